// SPDX-License-Identifier: MIT
//! What becomes of a mutant: for how long it is hunted and in which models, when that is decided,
//! and whether a run may end well with it. Nothing here runs a model: callers say how.

use std::time::Duration;

use crate::child::{Outcome, TIME_LIMIT};
use crate::record::{Kind, KILLED, SURVIVED, UNDECIDED};
use crate::subject::HARNESS;
use crate::suite::Set;

/// Nothing more is tried against a mutant after that.
const PATIENCE: Duration = Duration::from_secs(8);
const PATIENCE_DEEP: Duration = Duration::from_secs(60);
const PATIENCE_EXPLAINED: Duration = Duration::from_secs(2);

/// How a mutant is hunted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pub limit: Duration,
    pub deeper: bool, // in the deeper models too, where the others leave it alive
}

/// `kind` is that of the reason why the mutant may live; `asked` the time that the caller wants.
pub fn plan(set: Set, kind: Option<Kind>, asked: Option<Duration>) -> Plan {
    let deeper = set == Set::Deep && kind.is_none();
    let usual = match kind {
        None if deeper => PATIENCE_DEEP,
        None | Some(Kind::NotYet) => PATIENCE,
        Some(Kind::Equivalent | Kind::Outside) => PATIENCE_EXPLAINED,
    };
    Plan {
        limit: asked.unwrap_or(usual),
        deeper,
    }
}

/// What became of one.
#[derive(Clone, Debug)]
pub struct Fate {
    /// Every model to be tried was explored to its end, or one has killed it.
    pub decided: bool,
    pub killer: Option<Outcome>,
    pub executions: u64,
    pub seconds: f64,
}

impl Fate {
    /// As the record has it.
    pub fn name(&self) -> &'static str {
        match (&self.killer, self.decided) {
            (Some(_), _) => KILLED,
            (None, true) => SURVIVED,
            (None, false) => UNDECIDED,
        }
    }
}

/// A property of the library is broken; the harness itself is not, and the time is not up.
pub fn is_killed(outcome: &Outcome) -> bool {
    let real = outcome.property != HARNESS && outcome.property != TIME_LIMIT;
    !outcome.good && real
}

/// Runs the models with the mutant in them, in that order, until one fails or the time is up.
/// `passed` is the time since the start. A model that was not explored to its end decides nothing:
/// neither one that took too long nor one in which the harness failed.
pub fn hunt<M>(
    models: impl IntoIterator<Item = M>,
    limit: Duration,
    passed: impl Fn() -> Duration,
    mut run: impl FnMut(M) -> Outcome,
) -> Fate {
    let mut fate = Fate {
        decided: true,
        killer: None,
        executions: 0,
        seconds: 0.0,
    };
    for model in models {
        if passed() > limit {
            fate.decided = false;
            break;
        }
        let outcome = run(model);
        fate.executions += outcome.executions;
        if is_killed(&outcome) {
            fate.decided = true;
            fate.killer = Some(outcome);
            break;
        }
        fate.decided &= outcome.good;
    }
    fate.seconds = passed().as_secs_f64();
    fate
}

/// Hunts as planned. `hunt` is told which models: 0, the usual ones, or 1, the deeper ones.
pub fn fate_of(plan: Plan, mut hunt: impl FnMut(usize, Duration) -> Fate) -> Fate {
    let mut fate = hunt(0, plan.limit);
    if fate.killer.is_none() && plan.deeper {
        let deeper = hunt(1, plan.limit);
        fate.executions += deeper.executions;
        fate.seconds += deeper.seconds;
        fate.decided = deeper.killer.is_some() || (fate.decided && deeper.decided);
        fate.killer = deeper.killer;
    }
    fate
}

/// What a run makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    /// It may live; `open`: it is not explained yet.
    Lives {
        open: bool,
    },
    Failed,
    /// Not judged: the smaller set has no time for all models.
    Left,
}

/// `kind` is that of the reason why the mutant may live.
pub fn verdict(fate: &Fate, kind: Option<Kind>, set: Set) -> Verdict {
    match (fate.name(), kind) {
        (KILLED, _) => Verdict::Passed,
        (_, Some(kind)) => Verdict::Lives {
            open: kind == Kind::NotYet,
        },
        (UNDECIDED, None) if set != Set::Deep => Verdict::Left,
        (_, None) => Verdict::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::CRASH;
    use crate::subject::{EXCLUSION, RACE};

    const SECOND: Duration = Duration::from_secs(1);

    fn outcome(property: &str, executions: u64) -> Outcome {
        Outcome {
            model: "one".into(),
            good: property == "-",
            property: property.into(),
            executions,
            seconds: 1.0,
            run: Vec::new(),
            touched: Vec::new(),
            wakes: Vec::new(),
            places: String::new(),
            output: String::new(),
        }
    }

    /// Each model ends with its property; one a second.
    fn hunted(properties: &[&str], seconds: u32) -> (Fate, u32) {
        let tried = std::cell::Cell::new(0);
        let fate = hunt(
            properties,
            SECOND * seconds,
            || SECOND * tried.get(),
            |property| {
                tried.set(tried.get() + 1);
                outcome(property, 10)
            },
        );
        (fate, tried.get())
    }

    #[test]
    fn a_mutant_that_outlives_every_model_has_survived() {
        let (fate, tried) = hunted(&["-", "-", "-"], 9);
        assert_eq!((fate.name(), tried), (SURVIVED, 3));
        assert_eq!((fate.executions, fate.seconds), (30, 3.0));
    }

    #[test]
    fn the_first_model_that_fails_kills_it_and_is_the_last_one_tried() {
        for property in [EXCLUSION, RACE, CRASH] {
            let (fate, tried) = hunted(&["-", property, "-"], 9);
            assert_eq!((fate.name(), tried), (KILLED, 2));
            assert_eq!(fate.killer.expect("killed").property, property);
        }
    }

    #[test]
    fn a_mutant_with_models_left_when_the_time_is_up_is_undecided() {
        let (fate, tried) = hunted(&["-", "-", "-", EXCLUSION], 1);
        assert_eq!((fate.name(), tried), (UNDECIDED, 2));
    }

    #[test]
    fn a_mutant_without_models_left_when_the_time_is_up_has_survived() {
        assert_eq!(hunted(&["-", "-"], 1).0.name(), SURVIVED);
    }

    #[test]
    fn a_model_that_took_too_long_or_broke_the_harness_decides_nothing() {
        for property in [TIME_LIMIT, HARNESS] {
            assert!(!is_killed(&outcome(property, 1)));
            let (fate, tried) = hunted(&[property, "-"], 9);
            assert_eq!((fate.name(), tried), (UNDECIDED, 2));
            assert_eq!(hunted(&["-", property], 9).0.name(), UNDECIDED);
        }
    }

    #[test]
    fn a_kill_decides_even_after_a_model_that_took_too_long() {
        let (fate, _) = hunted(&[TIME_LIMIT, EXCLUSION], 9);
        assert_eq!((fate.name(), fate.decided), (KILLED, true));
    }

    #[test]
    fn only_a_mutant_without_a_reason_is_hunted_deeper_and_only_in_the_deep_set() {
        for set in [Set::Test, Set::Quick, Set::Deep] {
            assert_eq!(plan(set, None, None).deeper, set == Set::Deep);
            for kind in [Kind::Equivalent, Kind::Outside, Kind::NotYet] {
                assert!(!plan(set, Some(kind), None).deeper);
            }
        }
    }

    #[test]
    fn a_reason_shortens_the_hunt_unless_it_is_not_yet_or_a_time_was_asked_for() {
        let limit = |set, kind| plan(set, kind, None).limit;
        assert_eq!(limit(Set::Deep, None), PATIENCE_DEEP);
        assert_eq!(limit(Set::Quick, None), PATIENCE);
        assert_eq!(limit(Set::Deep, Some(Kind::NotYet)), PATIENCE);
        assert_eq!(limit(Set::Quick, Some(Kind::Equivalent)), PATIENCE_EXPLAINED);
        assert_eq!(limit(Set::Deep, Some(Kind::Outside)), PATIENCE_EXPLAINED);
        let asked = plan(Set::Quick, Some(Kind::Outside), Some(99 * SECOND));
        assert_eq!(asked.limit, 99 * SECOND);
    }

    fn fate(name: &str) -> Fate {
        Fate {
            decided: name != UNDECIDED,
            killer: (name == KILLED).then(|| outcome(EXCLUSION, 1)),
            executions: 5,
            seconds: 1.0,
        }
    }

    /// The fate of one hunted in the usual models, then in the deeper ones; and how often it was.
    fn of_both(deeper: bool, usual: &str, then: &str) -> (&'static str, u64) {
        let plan = Plan {
            limit: SECOND,
            deeper,
        };
        let found = fate_of(plan, |depth, limit| {
            assert_eq!(limit, SECOND);
            fate([usual, then][depth])
        });
        (found.name(), found.executions / 5)
    }

    #[test]
    fn the_deeper_models_decide_only_together_with_the_usual_ones() {
        for usual in [SURVIVED, UNDECIDED] {
            assert_eq!(of_both(true, usual, KILLED), (KILLED, 2));
            assert_eq!(of_both(true, usual, UNDECIDED), (UNDECIDED, 2));
            assert_eq!(of_both(true, usual, SURVIVED), (usual_name(usual), 2));
            assert_eq!(of_both(false, usual, KILLED), (usual_name(usual), 1));
        }
        assert_eq!(of_both(true, KILLED, SURVIVED), (KILLED, 1));
    }

    fn usual_name(name: &str) -> &'static str {
        fate(name).name()
    }

    #[test]
    fn a_killed_mutant_passes_whatever_the_reasons_say() {
        for kind in [None, Some(Kind::Equivalent), Some(Kind::NotYet)] {
            assert_eq!(verdict(&fate(KILLED), kind, Set::Quick), Verdict::Passed);
        }
    }

    #[test]
    fn a_mutant_that_lives_for_a_reason_is_open_if_the_reason_is_not_yet() {
        for name in [SURVIVED, UNDECIDED] {
            let of = |kind| verdict(&fate(name), Some(kind), Set::Deep);
            assert_eq!(of(Kind::NotYet), Verdict::Lives { open: true });
            assert_eq!(of(Kind::Equivalent), Verdict::Lives { open: false });
            assert_eq!(of(Kind::Outside), Verdict::Lives { open: false });
        }
    }

    #[test]
    fn a_survivor_without_a_reason_fails_and_an_undecided_one_in_the_deep_set_only() {
        assert_eq!(verdict(&fate(SURVIVED), None, Set::Quick), Verdict::Failed);
        assert_eq!(verdict(&fate(SURVIVED), None, Set::Deep), Verdict::Failed);
        assert_eq!(verdict(&fate(UNDECIDED), None, Set::Quick), Verdict::Left);
        assert_eq!(verdict(&fate(UNDECIDED), None, Set::Deep), Verdict::Failed);
    }
}
