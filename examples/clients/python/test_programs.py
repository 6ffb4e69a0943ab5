"""What a person hears who starts the programs of this folder wrongly, or wants to know what they are for."""

import os
import subprocess
import sys
import unittest

FOLDER = os.path.dirname(os.path.abspath(__file__))


def run(*arguments):
    """Status, standard output and standard error of a program."""
    done = subprocess.run([sys.executable, *arguments], cwd=FOLDER, capture_output=True, text=True, timeout=30,
                          env={**os.environ, "COLUMNS": "200"})
    return done.returncode, done.stdout, done.stderr


class ProgramsTest(unittest.TestCase):
    def test_a_command_that_runs_no_node_is_told_at_once(self):
        for command, told in (("false", "COMMAND must run a node until the trial ends it (ended with 1: false "),
                              ("/nowhere/penstock", "COMMAND must be a program (was /nowhere/penstock: No such file")):
            status, said, problem = run("vllm_trial.py", "--", command)
            self.assertEqual((status, said), (2, ""))
            self.assertTrue(problem.startswith(f"vllm_trial.py: error: {told}"), problem)
            self.assertEqual(problem.count("\n"), 1, problem)

    def test_options_of_the_trial_are_explained_and_have_bounds(self):
        status, said, _ = run("vllm_trial.py", "--help")
        self.assertEqual(status, 0)
        for part in ("penstock serve --model vllm --layers 1 \\\n", "a bit of a block is flipped", "(default: 8192)"):
            self.assertIn(part, said)
        status, _, problem = run("vllm_trial.py", "--jobs", "0", "--", "false")
        self.assertEqual(status, 2)
        self.assertIn("argument --jobs: must be >= 1 (was 0)", problem)

    def test_the_example_explains_its_address(self):
        status, said, _ = run("example.py", "--help")
        self.assertEqual(status, 0)
        self.assertIn("HOST:PORT", said)
        status, _, problem = run("example.py", "foo")
        self.assertEqual(status, 2)
        self.assertIn("error: address must be HOST:PORT, IPv6 in brackets, or unix:PATH (was foo)\n", problem)

    def test_the_tier_says_that_it_is_no_program(self):
        status, said, _ = run("penstock_vllm.py")
        self.assertEqual(status, 0)
        self.assertTrue(said.startswith("This module is a secondary tier that vLLM imports; it is no program."), said)


if __name__ == "__main__":
    unittest.main()
