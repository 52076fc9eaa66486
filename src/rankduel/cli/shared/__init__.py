"""Parts that several commands share.

Options and settings (`config`, `storage_option`, `data`, `numbers`), execution (`run_experiment`, `run_specs`) and
output (`progress`, `progress_bar`, `terminal`, `tables`, `formats`, `listing`, `findings`).
"""
