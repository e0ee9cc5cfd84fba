"""Bad input, hostile files and hostile folders: every case ends in a right answer or in one sentence."""
