//! What every backend must do, as cases that its tests run.
//!
//! A case gets a store of its own, fresh and with [`SHARDS`] shards, and panics if the store is wrong. A
//! backend's test binary needs one function that makes a store and runs a case by its name:
//!
//! ```
//! use windlass_store::conformance;
//! use windlass_store::memory::MemoryStore;
//! use windlass_store::opening::StoreId;
//!
//! fn check(case: &str) {
//!     let store = MemoryStore::new(StoreId(1), conformance::SHARDS);
//!     # fn block_on(_: impl Future<Output = ()>) {}
//!     block_on(conformance::run(case, &store)); // with the runtime that the backend needs
//! }
//! windlass_store::conformance_tests!(check);
//! ```
//!
//! Nothing here injects faults: a lost answer is one that the case does not look at, and a commit that lands
//! late is one that is sent late.

mod between;
mod claims;
mod fencing;
mod fixtures;
mod globals;
mod homes;
mod joined;
mod leases;
mod listing;
mod poison;
mod retention;
mod roundtrip;
mod samples;
mod settling;
mod versions;

pub mod differential;

use windlass_model::ShardCount;

use crate::contract::Store;

/// How many shards the store of a case has.
pub const SHARDS: ShardCount = match ShardCount::new(4) {
    Some(count) => count,
    None => unreachable!(), // Four is between 1 and 1,024.
};

/// Makes a test of each case, which calls the given function with the name of the case.
#[macro_export]
macro_rules! conformance_tests {
    ($check:path) => {
        $crate::each_case! { [$crate::conformance_tests_of] [$check] }
    };
}

/// The tests of a list of cases.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_tests_of {
    ([$check:path] $($module:ident { $($case:ident,)+ })+) => {
        $($(
            #[test]
            fn $case() {
                $check(stringify!($case));
            }
        )+)+
    };
}

/// Hands the list of all cases to a macro: the one place where they are named.
#[doc(hidden)]
#[macro_export]
macro_rules! each_case {
    ([$($then:tt)+] $given:tt) => {
        $($then)+! { $given
            fencing {
                a_commit_needs_a_claim,
                a_stale_epoch_is_refused,
                a_stale_number_of_commits_is_refused,
                a_number_of_commits_ahead_is_refused,
                the_same_commit_lands_once,
                of_two_owners_only_the_newer_commits,
                one_stale_shard_voids_the_whole_commit,
                several_shards_commit_together,
                after_a_failed_commit_its_successor_is_refused,
                an_empty_commit_proves_the_epoch,
                an_unknown_shard_is_refused,
                a_commit_after_a_release_is_refused,
                of_racing_commits_one_lands,
            }
            claims {
                a_new_shard_is_free,
                only_a_registered_master_claims,
                a_shard_out_of_range_is_refused,
                an_owned_shard_is_held,
                a_lease_that_stands_still_gives_way,
                a_lease_that_moved_does_not,
                a_sighting_of_another_owner_is_worthless,
                an_owner_claims_its_own_again,
                a_released_shard_is_free,
                only_the_owner_releases,
                standings_tell_who_owns_what,
                of_concurrent_claims_exactly_one_wins,
                a_load_needs_the_current_epoch,
                a_second_load_needs_a_new_epoch,
                a_claim_tells_the_newest_id,
            }
            settling {
                a_landed_commit_shows_in_the_claim,
                a_lost_commit_shows_in_the_claim,
                a_late_commit_changes_nothing_after_the_claim,
                a_late_commit_before_the_claim_counts,
                a_late_claim_of_an_old_sighting_is_refused,
            }
            leases {
                a_name_belongs_to_one_live_master,
                a_name_of_a_lease_that_stands_still_is_free,
                registering_again_is_harmless,
                a_lease_says_how_its_master_is_reached,
                a_renew_moves_the_counter_and_names_the_shards,
                a_lost_shard_is_missing_from_the_renew,
                a_renew_without_a_lease_is_refused,
                leaving_frees_everything,
                a_lease_that_moved_is_not_ended,
                a_counter_never_repeats,
            }
            globals {
                global_rows_come_with_the_renew,
                global_rows_are_read_without_a_lease,
                a_global_row_changes_from_the_revision_seen,
                of_concurrent_changes_exactly_one_wins,
                what_masters_have_acted_on_is_in_their_leases,
            }
            roundtrip {
                runs_come_back_as_they_were,
                every_state_comes_back,
                jobs_come_back_as_they_were,
                attempts_come_back_as_they_were,
                tails_come_back_as_they_were,
                a_later_attempt_of_the_same_number_has_its_own_tail,
                values_come_back_as_they_were,
                the_largest_values_fit,
                origins_come_back_as_they_were,
                sub_workflows_have_the_origin_of_their_ancestor,
                keys_come_back_with_their_runs,
                the_last_change_of_a_row_stays,
                rows_may_come_before_their_run,
                runs_that_are_over_are_not_loaded,
                a_reopened_run_is_loaded_again,
                shards_do_not_mix,
                a_million_is_not_needed_to_page_attempts,
            }
            poison {
                a_nul_is_found,
                what_is_too_large_is_found,
                what_goes_too_deep_is_found,
                a_change_of_another_shard_is_found,
                a_shard_named_twice_is_refused,
                states_of_memory_are_refused,
                a_row_without_its_run_is_found,
                a_new_run_needs_an_id_that_was_given_out,
                a_new_run_needs_its_definition,
                a_run_does_not_go_back,
                runs_that_started_each_other_harm_nothing,
                the_newest_id_does_not_go_back,
                a_key_belongs_to_one_run,
                an_attempt_is_replaced_by_a_higher_fence_only,
                an_end_of_an_attempt_never_changes,
                a_poisoned_shard_voids_the_others_too,
                rows_changed_twice_are_taken_back_to_the_start,
            }
            homes {
                workflows_come_back_with_their_schedules_and_the_newest_firing,
                the_cursor_of_a_schedule_does_not_go_back,
                a_due_time_has_one_run,
                pools_come_back_with_their_permits,
                workflows_of_all_shards_are_listed_by_name,
                a_workflow_is_read_from_its_home,
                schedules_are_listed_by_workflow_and_identity,
                the_ledger_of_a_schedule_is_read_newest_first,
                pools_are_listed_with_the_number_of_their_permits,
                workflows_and_pools_go,
            }
            between {
                listeners_come_back_until_they_are_gone,
                completions_are_not_dealt_with_twice,
                what_is_to_be_told_comes_back_until_it_is_heard,
                what_another_shard_tells_is_refused,
                backfills_come_back_until_they_are_over,
                the_cursor_of_a_backfill_does_not_go_back,
                a_key_starts_one_backfill,
                the_newest_run_of_a_logical_time_is_found,
                successful_logical_times_are_found,
            }
            listing {
                lists_are_newest_first_over_all_shards,
                filters_choose,
                pages_are_stable_while_runs_are_created,
                an_unknown_run_is_nothing,
            }
            versions {
                the_same_content_is_one_version,
                versions_are_numbered_and_never_change,
                concurrent_versions_get_different_numbers,
                a_version_with_a_nul_is_refused,
            }
            retention {
                old_runs_go_with_all_that_is_theirs,
                open_runs_stay,
                the_newest_runs_of_each_workflow_stay,
                a_tree_goes_together_when_all_of_it_is_over,
                keys_stay_a_day,
                retention_goes_in_steps,
                retention_is_fenced,
                a_run_that_is_gone_does_not_come_back,
            }
        }
    };
}

macro_rules! dispatch {
    ([] $($module:ident { $($case:ident,)+ })+) => {
        /// The name of every case.
        pub const CASES: &[&str] = &[$($(stringify!($case),)+)+];

        /// Runs one case against a fresh store.
        ///
        /// # Panics
        ///
        /// If the store is wrong, or there is no such case.
        pub async fn run<S: Store>(case: &str, store: &S) {
            match case {
                $($(stringify!($case) => Box::pin($module::$case(store)).await,)+)+
                unknown => panic!("there is no case {unknown}"),
            }
        }
    };
}

each_case! { [dispatch] [] }

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn every_case_has_a_name_of_its_own() {
        let names: BTreeSet<_> = super::CASES.iter().collect();
        assert_eq!(names.len(), super::CASES.len());
    }
}
