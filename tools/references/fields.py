"""What the files of a run and their fields mean; a file or field that nobody described stops the generator."""

from __future__ import annotations

#: The files of a run folder, in the order in which a reader wants them.
FILES = {
    "settings.toml": "what was asked: every setting with its source, so that the run can be learned again",
    "representation.json": "the map for other programs; see [below](#representationjson)",
    "values.npz": "`q` and `updates`, of the shape regions × actions: action values, and how often each was updated",
    "controller-map.json": "the map that acts, in the same format, where it is not the one for other learners",
    "representation-values.npz": "`q` of `representation.json`, where another map acts",
    "reasons.jsonl": "why regions were split, merged, kept; see [below](#reasonsjsonl)",
    "history.jsonl": "the map and its values after some of the trials, oldest first; see [below](#historyjsonl)",
    "trials.csv": "a line for every trial; see [below](#trialscsv)",
    "result.json": "the result in short; where it is, the run is finished; see [below](#resultjson)",
    "checkpoint.npz": "everything that is needed to go on with the same bits; not a format for others",
    "partition.png": "the picture of the map",
    "certificate.json": "what `distinguo verify` proved; see [below](#certificatejson)",
    "certificate-….json": "the same, where more was asked: `certificate-disturbance-0.001.json`",
    "proof.png": "the picture of what was proven",
    "dial.csv": "from `distinguo condense`: the mean return of the best map of every size",
    "dial.png": "the picture of that",
}

REPRESENTATION = {
    "format": "always `distinguo-representation`",
    "version": "of the format; old versions are read for ever",
    "dimensions": "the names of the coordinates",
    "provenance": "where it came from: task, preset, seed, …; nothing depends on it",
    "kind": "how a region is found",
    "scale": "what differences are divided by before distances are taken, one number per coordinate",
    "prototypes": "the states that stand for all that are nearest to them",
    "regions": "the region of each prototype",
    "primaries": "the primary prototype of each region",
    "low": "the least value of each coordinate that the boxes cover",
    "high": "the greatest",
    "nodes": "the tree: a cut has `axis`, `cut`, `below` and `above`, a leaf has `region`; node 0 is the root",
}

TRIALS = {
    "trial": "its number, from 1",
    "length": "its steps",
    "ended": "`wall` or `terminal` for a terminal state, `cap` for a trial that was stopped",
    "regions": "regions at its end",
    "prototypes": "prototypes at its end",
    "environment_steps": "all steps until then, mini-trials included",
    "investigation_steps": "those of them in mini-trials",
    "gained": "the sum of its rewards",
}

EVENTS = {
    "split": "a state became a prototype with a region of its own (`economy`)",
    "merge": "two regions became one (`economy`)",
    "detach": "a prototype was given a region of its own again (`economy`)",
    "kept": "a change of the map was tried, paid, and was kept (`probation`)",
    "price": "the return that is lost if two regions take one action",
    "restart": "an attempt was given up; the next began from scratch",
    "return": "the run ended with an earlier attempt, the best one",
}

REASONS = {
    "event": "one of the above",
    "trial": "the trial after which it happened",
    "step": "environment steps until then",
    "prototypes": "the two prototypes, by the number of their birth; of `kept`, how many there were before and after",
    "states": "where these two prototypes are",
    "profiles": "the look-ahead values of all actions at either of them, at that moment",
    "rules": "the equations of Definition 9 that keep the two apart; none for a merge",
    "regret": "the reward at stake between the two",
    "changes": "what the change was made of: move, stretch, action, add, drop",
    "starts": "starts that it was tried on, or measured by",
    "worst_start": "the return from the worst start before and after",
    "gain": "the return gained over all starts",
    "steps": "environment steps that trying it took",
    "first_difference": "the first decision that it altered: `step`, `state`, `action` and what is done `instead`",
    "regions": "the two regions",
    "actions": "their actions",
    "lost": "the mean return that is lost without the distinction",
    "attempt": "the number of the attempt",
    "until": "the trials that it had had",
}

HISTORY = {
    "trial": "the number of the trial that had ended",
    "environment_steps": "all steps until then, mini-trials included",
    "delta": "the tolerance of ties of the controller",
    "representation": "the map, as in `representation.json`",
    "q": "its action values, regions × actions",
}

RESULT = {
    "task": "the task",
    "seed": "the seed of all random choices",
    "preset": "the preset",
    "learner": "the learner",
    "solved": "whether new greedy trials confirmed that the policy does what the task asks for",
    "score": "steps that the greedy policy held, or its mean return",
    "regions": "regions of the controller",
    "prototypes": "prototypes of the controller",
    "trials": "trials of learning",
    "environment_steps": "all steps of learning, mini-trials included, without the final long trial and confirmation",
    "investigation_steps": "those of them in mini-trials",
    "final_trial_steps": "steps of the last trial, where it was stopped because it would not end",
    "confirmation_steps": "steps of the trials that confirmed the result",
    "confirmation_trials": "how many trials these were",
    "score_low": "a bound that the true mean return is above with a chance of 19 in 20",
    "attempts": "how often learning began from scratch",
    "representation_regions": "regions of `representation.json`",
    "representation_prototypes": "prototypes of `representation.json`",
    "representation_steps": "steps that it took to make that map from the controller's",
    "representation_assured": "whether its return was confirmed with room to spare",
    "price_steps": "steps that it took to measure the prices",
    "epsilon": "the ε that was in force at the end",
    "proposals": "changes that were tried",
    "kept": "changes that were kept",
    "states_seen": "labels that were seen",
    "states_that_matter": "labels that the controller has a region for",
    "expected_return": "the mean return by the learned model",
    "chance": "whether the same action was seen to have two outcomes",
    "seconds": "time that learning took",
    "versions": "of the software that learned it",
}
