"""What does an adversary believe about each target, and is it right?"""
