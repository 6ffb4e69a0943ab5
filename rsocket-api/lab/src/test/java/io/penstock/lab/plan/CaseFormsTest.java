package io.penstock.lab.plan;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.lab.LabRun;
import io.penstock.node.CommandLineRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Cases at the borders of their forms: nothing to do, inputs left out, texts for numbers, sizes that do not divide
/// each other, and refusals. Their answers follow from the rules by hand.
final class CaseFormsTest {
  @TempDir
  private Path folder;

  private CommandLineRun check(String document) throws IOException {
    String file = Files.writeString(folder.resolve("cases.json"), document).toString();
    return LabRun.with(Map.of(), "".getBytes(UTF_8), "plan", "--check", file);
  }

  @ParameterizedTest
  @ValueSource(strings = {
    // sizes: a number, perhaps with a fraction, and a unit; no sign, no exponent
    "[{'input': '+1', 'error': 'ValueError'}]", "[{'input': '1e3', 'error': 'ValueError'}]",
    "[{'input': '1.2.3', 'error': 'ValueError'}]", "[{'input': '.5 KB', 'output': 512}]",
    "[{'input': null, 'error': 'TypeError'}]", "[{'input': [], 'error': 'TypeError'}]",
    "[{'input': 2.9e12, 'output': 2900000000000}]",
    // runs: nothing to move, and blocks of megabytes
    "[{'input': {'src': [], 'dst': [], 'src_block_stride': 1, 'dst_block_stride': 1, 'block_len': 1},"
        + " 'output': {'src_groups': [], 'dst_groups': []}}]",
    "[{'input': {'src': [1, 2], 'dst': [4, 5], 'src_block_stride': 4194304, 'dst_block_stride': 4194304,"
        + " 'block_len': 4194304}, 'output': {'src_groups': [[1, 2]], 'dst_groups': [[4, 5]]}}]",
    // groups are cut anew, across their borders too, unless blocks of both sides lie without gaps
    "[{'input': {'src_groups': [[2], [4]], 'dst_groups': [[1], [3]], 'src_block_stride': 512,"
        + " 'dst_block_stride': 512, 'block_len': 1024}, 'output': {'src_groups': [[2, 4]], 'dst_groups': [[1, 3]]}}]",
    "[{'input': {'src_groups': [[2, 4]], 'dst_groups': [[1, 3]], 'src_block_stride': 1, 'dst_block_stride': 1,"
        + " 'block_len': 1}, 'output': {'src_groups': [[2, 4]], 'dst_groups': [[1, 3]]}}]",
    // copies of heads where ranks keep several heads, or are too few for the ranks of a sequence
    "[{'tp': 4, 'heads': 8, 'dcp': 2, 'output': [[0, 1]]}]", "[{'tp': 4, 'heads': 4, 'dcp': 2, 'output': []}]",
    // the prompt of no groups, and an instance that does not split sequences
    "[{'input': {'groups': [{'tokens_per_block': 16, 'blocks_per_window': 0, 'is_state_group': false}], 'blocks': [],"
        + " 'prompt_len': 9, 'pcp': 1, 'dcp': 1}, 'after_prompt_trim': [], 'after_window_clip': []}]",
    // an indexer: a cached prefix needs all ids; no ids of decode need nothing
    "[{'input': {'pcp': 1, 'dcp': 1, 'remote_pcp_size': 1, 'remote_dcp_size': 2, 'remote_block_ids': [[10, 11]],"
        + " 'local_block_ids': [[20]], 'local_full_block_ids': null, 'num_external_tokens': 16,"
        + " 'num_prompt_blocks': 2, 'num_computed_tokens': 16}, 'error': 'AssertionError'}]",
    "[{'input': {'pcp': 1, 'dcp': 1, 'remote_pcp_size': 1, 'remote_dcp_size': 2, 'remote_block_ids': [[10, 11]],"
        + " 'local_block_ids': [], 'local_full_block_ids': null, 'num_external_tokens': 16,"
        + " 'num_prompt_blocks': 1, 'num_computed_tokens': 0}, 'output': {'local': [], 'remote': []}}]",
    // one host alone
    "[{'input': {'kv_port': 30000, 'base_port': 30000, 'port': 30001, 'mapping': null, 'default_host': 'here',"
        + " 'default_engine': 'E'}, 'output': ['here', 'E']}]",
    // layers that share buffers: settings as texts, none, and no layers
    "[{'input': {'num_layers': 3, 'config': {'layerwise_num_shared_buffers': '1'}}, 'output': {'num_shared': 1,"
        + " 'prefetch': 1, 'independent': [0], 'wait_for_save_of': {'2': 1}, 'slots': [[0], [1, 2]],"
        + " 'has_reuse': true}}]",
    "[{'input': {'num_layers': 0, 'config': null}, 'output': {'error': 'ValueError'}}]",
    // workers report until each has
    "[{'input': {'expected_finished_count': null, 'per_step_per_worker': [[['a'], []], [[], ['a']]]},"
        + " 'finished_per_step': [[], ['a']]}]",
    // a push whose sides the engine refused, and the planner serves
    "[{'input': {'prefill': {'tp': 8, 'pcp': 1, 'dcp': 2}, 'decode': {'tp': 8, 'pcp': 1, 'dcp': 1, 'base_port': 7000},"
        + " 'num_kv_heads': 1, 'mla': true, 'prompt_len': 32, 'block_size': 16, 'decode_cached_tokens': 0,"
        + " 'already_sent_tokens': 0, 'computed_tokens': 32, 'chunk_finish': true, 'req_index_in_batch': 0,"
        + " 'pd_head_ratio': 1, 'local_block_ids': '100..', 'remote_block_ids': '500..'}, 'error': 'AssertionError'}]",
    // a pool: settings as texts, positions by ends, keys without the field, blocks without a hash, layers of a draft
    "[{'input': {'kv_role': 'kv_consumer', 'extra': {'prefill_tp_size': '4'}, 'local_tp': 2, 'num_kv_heads': 8,"
        + " 'mla': false, 'hybrid': false}, 'output': {'enabled': true, 'peer_tp': 4, 'effective_tp': 4,"
        + " 'local_heads': 4, 'effective_heads': 2, 'sub_keys': 2}}]",
    "{'continuous_hits': [{'input': {'per_rank': [[1, 1, 1]], 'ends': [16, 32, 40], 'max_hit': 99, 'granularity': 16},"
        + " 'output': [16, 32]}]}",
    "{'discontinuous_hits': [{'input': {'per_rank': [[0, 1, 1]], 'ends': [24, 48, 72], 'max_hit': 99,"
        + " 'granularity': 48}, 'output': [48]}]}",
    "[{'input': {'per_rank': [], 'ends': [16], 'max_hit': 99, 'granularity': 16}, 'output': [16]}]",
    "[{'input': [50, 16, 9, true], 'output': 3}, {'input': [50, 16, 3, false], 'output': null}]",
    "[{'input': ['[96, 128]', '128', '[1]'], 'output': 128}]",
    "[{'key': 'm@group:0@h', 'field': 'pp_rank', 'value': 1, 'output': 'm@group:0@h'}]",
    "[{'key': 'm@group:0@h', 'field': 'group', 'value': 12, 'output': 'm@group:12@h'}]",
    "[{'input': {'token_len_per_step': [40, 40], 'granularity': 32, 'discard_partial': false}, 'output': ["
        + "{'can_save': true, 'save_start': 0, 'save_end': 40}, {'can_save': true, 'save_start': 40,"
        + " 'save_end': 40}]}]",
    "[{'input': {'partitions': [1, 1], 'num_layers': 3, 'addrs': [5, 6, 7], 'sizes': [1, 1, 1], 'key':"
        + " 'm@pcp0@dcp0@head_or_tp_rank:0@pp_rank:0@group:0@cache_role:kv@cache_family:default@h'}, 'output': ["
        + "['m@pcp0@dcp0@head_or_tp_rank:0@pp_rank:0@group:0@cache_role:kv@cache_family:default@h', [5], [1]],"
        + "['m@pcp0@dcp0@head_or_tp_rank:0@pp_rank:1@group:0@cache_role:kv@cache_family:default@h', [6, 7], [1, 1]]]}]",
    "[{'request_bytes': 4000000, 'score': 34620.0745}]"})
  void borderCase_isAsTheRuleSays(String document) throws IOException {
    CommandLineRun run = check(document.replace('\'', '"'));
    assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
  }

  /// Without context parallelism the copy is drawn, and only the recorded ports tell which.
  @Test
  void pullOfADrawnCopy_isRecognisedByItsPorts_andMustBeTheSameForAllBlocks() throws IOException {
    String drawn = """
        [{"input": {"prefill": {"tp": 2, "pcp": 1, "dcp": 1, "base_port": 30000, "block_size": 16},
          "decode": {"tp": 1, "pcp": 1, "dcp": 1, "block_size": 16, "kernel_block_scale": 1}, "num_kv_heads": 1,
          "mla": true, "num_prompt_blocks_p_units": 1, "prefix_cached_blocks_p_units": 0, "num_external_tokens": 16,
          "remote_block_ids": [7], "local_block_ids": [9]}, "expected_pull_count_per_prefill_port": null,
          "output": [{"decode_tp_rank": 0, "decode_pcp_rank": 0, "decode_dcp_rank": 0, "shards": [{"ports": [%d],
          "pulls": [{"tp_offset": 0, "num_pulls": 1, "pp": 0, "end": true}], "local_kernel_blocks": [9],
          "remote_kernel_blocks": [7]}]}]}]""";
    assertThat(check(drawn.formatted(30001)).exitCode()).isZero();
    assertThat(check(drawn.formatted(30002)).exitCode()).isEqualTo(1);
  }

  /// A recorded trace may be the later part of a longer one.
  @Test
  void laterPartOfATrace_isCheckedFromItsFirstState() throws IOException {
    String trace = """
        {"trace": [{"op": "begin_request", "args": [5], "kwargs": {},
          "result": {"key": "a:1", "host": "a", "port": 1}, "state": {"prefill": {"a:1": [0, 15], "b:1": [0, 11]},
          "decode": {"c:1": 4.0}, "request_num": 3, "tainted": {"prefill": [], "decode": []}}},
         {"op": "finish_request", "args": ["a:1", 15, "c:1", 4], "kwargs": {"release_prefill_kv": true},
          "result": null, "state": {"prefill": {"a:1": [0, 0], "b:1": [0, 11]}, "decode": {"c:1": 0.0},
          "request_num": 2, "tainted": {"prefill": [], "decode": []}}}]}""";
    assertThat(check(trace).exitCode()).isZero();
    CommandLineRun wrong = check(trace.replace("[0, 11]", "[0, 9]"));
    assertThat(wrong.exitCode()).isEqualTo(1);
    assertThat(wrong.out()).contains("trace case 0: result.key is recorded as \"a:1\", the rule gives \"b:1\"");
  }

  @Test
  void refusalThatTheRuleDoesNotShare_isADifference() throws IOException {
    CommandLineRun run = check("""
        [{"input": {"num_layers": 4, "pp_size": 2, "partition": null}, "error": "ValueError"},
         {"input": {"kv_port": 1, "dp_rank": 0, "tp": 1, "pp": 1, "pcp": 1, "pp_rank": 0, "pcp_rank": 0, "tp_rank": 0},
          "error": "ValueError"}]""");
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out()).contains("2 differences");
  }
}
