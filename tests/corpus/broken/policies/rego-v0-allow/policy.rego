package switchboard

default allow = false

allow {
	input.user_tier == "gold"
}
