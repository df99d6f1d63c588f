package gateway.authz

default allow := false

allow if {
	input.user_tier == "gold"
}
