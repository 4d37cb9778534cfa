"""The 38 acceptance cases of the Foremerge protocol, and the tests that prove each.

A file says by what: `rules/` is the pure judgement alone; `gateway/` a real server and the real MCP client over
operations that answer from a script; all others are the real engine (Temporal, PostgreSQL, NATS and git), those under
`cli/` and `e2e/` a whole `gitring up` besides. One case reads differently here:
in 32 a fresh log, valid with 0 and null, is that of a project without events; a real one begins with its founding.
"""

CASES: dict[int, tuple[str, ...]] = {
    1: (
        "foremerge/test_publish.py::test_the_later_publisher_is_told_of_a_conflict_before_any_code_is_there",
        "e2e/test_foremerge_session.py::test_two_worktrees_from_init_to_a_recorded_squash_landing",
    ),
    2: (
        "foremerge/test_cases_scenarios.py::test_whatever_the_words_the_declared_operations_decide",
        "rules/foremerge/test_fm_detector.py::test_other_words_for_the_same_work_change_nothing",
    ),
    3: ("foremerge/test_publish.py::test_an_alias_alone_asserts_nothing_and_finds_both_in_a_query",),
    4: (
        "foremerge/test_publish.py::test_an_alias_alone_asserts_nothing_and_finds_both_in_a_query",
        "rules/foremerge/test_fm_detector.py::test_two_spellings_of_one_namespace_are_one_scope",
    ),
    5: ("foremerge/test_publish.py::test_likeness_of_words_is_found_by_index_and_scored_as_the_rules_say",),
    6: (
        "foremerge/test_cases_scenarios.py::test_a_scenario_is_found_by_whoever_publishes_second",
        "rules/foremerge/test_fm_detector.py::test_two_rewrites_diverge_and_two_extensions_share",
    ),
    7: (
        "foremerge/test_publish.py::test_likeness_of_words_is_found_by_index_and_scored_as_the_rules_say",
        "foremerge/test_cases_scenarios.py::test_a_scenario_is_found_by_whoever_publishes_second",
    ),
    8: ("foremerge/test_cases_scenarios.py::test_a_scenario_is_found_by_whoever_publishes_second",),
    9: ("foremerge/test_cases_scenarios.py::test_a_scenario_is_found_by_whoever_publishes_second",),
    10: ("foremerge/test_cases_scenarios.py::test_a_scenario_is_found_by_whoever_publishes_second",),
    11: (
        "foremerge/test_publish.py::test_scopes_without_an_operation_are_read_from_the_summary_and_never_high",
        "cli/test_foremerge_command.py::"
        "test_an_operation_that_is_left_out_is_read_from_the_summary_and_asserts_nothing",
    ),
    12: (
        "foremerge/test_publish.py::test_warnings_refuse_nothing_and_contradictions_do",
        "cli/test_foremerge_command.py::test_scopes_fold_or_contradict_and_claims_take_no_operation",
    ),
    13: (
        "foremerge/test_doors.py::test_scopes_that_cannot_be_read_are_refused_at_both_doors_and_nothing_is_kept",
        "cli/test_foremerge_command.py::test_what_is_no_scope_is_refused_before_anything_is_sent",
    ),
    14: ("foremerge/test_doors.py::test_an_id_is_no_description_and_a_what_if_keeps_nothing",),
    15: ("foremerge/test_doors.py::test_an_id_is_no_description_and_a_what_if_keeps_nothing",),
    16: ("foremerge/test_life.py::test_two_claims_of_one_scope_both_stand_and_the_second_is_told",),
    17: (
        "foremerge/test_life.py::test_a_lease_ends_by_being_read_and_is_renewed_in_place",
        "foremerge/test_cases_gate.py::test_a_claim_whose_lease_has_passed_is_no_part_of_the_overview",
    ),
    18: (
        "foremerge/test_life.py::test_a_lease_ends_by_being_read_and_is_renewed_in_place",
        "cli/test_foremerge_command.py::test_scopes_fold_or_contradict_and_claims_take_no_operation",
    ),
    19: (
        "foremerge/test_life.py::test_nobody_acts_on_the_work_of_another_agent_and_no_step_is_skipped",
        "foremerge/test_cases_gate.py::test_nobody_publishes_a_changeset_for_the_work_of_another_agent",
    ),
    20: (
        "foremerge/test_doors.py::test_over_mcp_only_a_party_resolves_and_over_the_api_any_agent",
        "foremerge/test_publish.py::test_a_conflict_that_was_settled_stays_settled_when_it_is_seen_again",
    ),
    21: (
        "foremerge/test_doors.py::test_a_changeset_and_the_runs_on_it_are_shown_wherever_they_belong",
        "gateway/test_foremerge_mcp.py::test_an_override_is_for_operators_alone",
        "foremerge/test_gate.py::test_an_open_high_conflict_stops_acceptance_until_an_operator_overrides_it",
    ),
    22: (
        "foremerge/test_gate.py::test_an_open_high_conflict_stops_acceptance_until_an_operator_overrides_it",
    ),
    23: ("foremerge/test_gate.py::test_a_failed_check_is_an_answer_and_keeps_the_gate_shut",),
    24: ("foremerge/test_gate.py::test_litter_of_a_check_makes_its_run_stale_unless_it_is_excluded",),
    25: (
        "foremerge/test_gate.py::test_what_changed_after_its_validation_is_not_accepted",
        "foremerge/test_gate.py::test_a_worktree_that_became_a_folder_of_another_is_refused",
    ),
    26: (
        "foremerge/test_changesets.py::test_a_changeset_goes_from_its_worktree_to_the_line",
        "foremerge/test_gate.py::test_the_policy_says_whether_work_without_a_validation_passes",
        "foremerge/test_gate.py::test_a_failed_check_is_an_answer_and_keeps_the_gate_shut",
    ),
    27: (
        "foremerge/test_gate.py::test_a_dependency_must_be_accepted_and_contained",
        "foremerge/test_cases_gate.py::test_what_an_intent_depends_on_is_told_and_never_enforced",
    ),
    28: (
        "foremerge/test_changesets.py::test_the_base_is_the_first_parent_unless_the_caller_names_another",
        "foremerge/test_changesets.py::test_a_root_commit_a_shallow_clone_and_an_unborn_branch_are_told_apart",
    ),
    29: (
        "foremerge/test_changesets.py::test_a_revision_takes_the_place_of_the_one_before",
        "foremerge/test_gate.py::test_a_run_that_ends_after_a_revision_is_kept_and_does_not_count",
    ),
    30: (
        "foremerge/test_changesets.py::test_a_changeset_goes_from_its_worktree_to_the_line",
        "foremerge/test_gate.py::test_a_landing_is_recognised_by_its_content",
    ),
    31: (
        "foremerge/test_life.py::test_giving_up_frees_the_other_party_and_ends_the_claims",
        "foremerge/test_cases_gate.py::test_giving_up_opens_the_gate_of_the_other_party",
    ),
    32: (
        "foremerge/test_doors.py::test_paging_the_ledger_has_no_gaps_and_its_chain_can_be_followed",
        "foremerge/test_cases_gate.py::test_neither_the_ledger_nor_a_run_of_a_check_can_be_written_over",
        "storage/sql/test_events_audit.py::test_an_empty_ledger_is_valid",
        "storage/sql/test_events_audit.py::test_a_changed_field_is_found_at_its_row",
    ),
    33: (
        "gateway/test_foremerge_mcp.py::test_a_handshake_comes_to_2025_11_25_whatever_it_asked_for",
        "gateway/test_foremerge_mcp.py::test_both_revisions_interleave_in_one_process",
        "gateway/test_foremerge_mcp.py::test_a_revision_nobody_speaks_is_told_which_there_are",
        "gateway/test_foremerge_mcp.py::test_what_json_rpc_refuses_has_the_code_of_json_rpc",
        "gateway/test_foremerge_mcp.py::test_each_tool_answers_compact_json_and_structure_only_for_objects",
        "cli/test_foremerge_bridge.py::test_both_revisions_are_told_apart_by_the_request",
    ),
    34: (
        "cli/test_foremerge_bridge.py::"
        "test_without_a_project_the_tools_are_listed_and_each_call_says_what_is_missing",
    ),
    35: (
        "gateway/test_foremerge_api.py::test_without_a_token_nothing_of_the_call_is_looked_at",
        "gateway/test_foremerge_api.py::test_a_validation_takes_the_name_of_a_check_and_nothing_else",
        "gateway/test_foremerge_api.py::test_what_is_not_there_is_told_in_the_envelope",
        "foremerge/test_doors.py::test_paging_the_ledger_has_no_gaps_and_its_chain_can_be_followed",
    ),
    36: (
        "foremerge/test_changesets.py::test_a_worktree_of_another_repository_is_refused",
        "e2e/test_foremerge_session.py::test_two_worktrees_from_init_to_a_recorded_squash_landing",
    ),
    37: (
        "e2e/test_foremerge_crowd.py::test_twenty_programs_at_once_are_each_told_of_all_who_published_before",
        "foremerge/test_publish.py::test_twenty_at_once_find_every_pair_exactly_once_and_leave_a_whole_chain",
    ),
    38: ("foremerge/test_doors.py::test_an_intent_is_warned_of_what_it_leaves_out_and_is_kept",),
}
