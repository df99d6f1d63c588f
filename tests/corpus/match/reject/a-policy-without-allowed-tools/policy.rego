package switchboard

deny_reasons := {}
