package switchboard

allowed_tools := "all"
