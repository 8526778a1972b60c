"""A language server for eval files: from what an editor asks to what the compiler knows."""
