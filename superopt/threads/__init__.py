"""The thread level: instructions, layouts and schedules of the warps of one program."""
