package switchboard

allowed_tools contains "x" if to_number(input.candidate_tools[0].id) > 1
