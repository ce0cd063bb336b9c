"""Repositories of git, made for a test."""

import os
import subprocess


def git(folder, *words):
    identity = {"AUTHOR": "a", "COMMITTER": "a"}
    names = {f"GIT_{who}_{what}": value for who, value in identity.items() for what in ("NAME", "EMAIL")}
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", "-c", "init.defaultBranch=main", *words]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | names | alone, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()
