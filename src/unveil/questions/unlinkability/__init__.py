"""How well is each subject hidden in what the adversary thinks belongs together?"""
