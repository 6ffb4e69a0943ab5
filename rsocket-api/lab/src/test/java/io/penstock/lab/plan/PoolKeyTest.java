package io.penstock.lab.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.lab.plan.PoolKey.Role;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PoolKeyTest {
  static PoolKey key() {
    return PoolKey.ofBlock("Qwen3", 1, 2, 3, 0, 4, Role.KV, "c4", "abcd");
  }

  @Test
  void key_isWrittenAndRead() {
    String text = "Qwen3@pcp1@dcp2@head_or_tp_rank:3@pp_rank:0@group:4@cache_role:kv@cache_family:c4@abcd";
    assertThat(key()).hasToString(text);
    assertThat(PoolKey.parse(text)).isEqualTo(key());
    assertThat(key().withRank(7).withStage(2)).hasToString(text.replace("rank:3", "rank:7").replace("pp_rank:0",
        "pp_rank:2"));
  }

  @Test
  void keyOfALayer_namesTheLayerInsteadOfTheStage() {
    String text = "Qwen3@pcp1@dcp2@head_or_tp_rank:3@group:4@cache_role:kv@cache_family:c4@layer_id:1@abcd";
    assertThat(key().ofLayer(1)).hasToString(text);
    assertThat(PoolKey.parse(text)).isEqualTo(key().ofLayer(1));
    assertThat(key().withStage(1).ofLayer(1)).as("stages share the layers of a model").isEqualTo(key().ofLayer(1));
  }

  @Test
  void modelOfAPath_isItsLastElement() {
    assertThat(PoolKey.modelOf("/models/Qwen/Qwen3/")).isEqualTo("Qwen3");
    assertThat(PoolKey.modelOf("Qwen3")).isEqualTo("Qwen3");
    PoolKey odd = PoolKey.ofBlock("a@b", 0, 0, 0, 0, 0, Role.STATE, "default", "h");
    assertThat(PoolKey.parse(odd.toString())).isEqualTo(odd);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "m@h", "m@pcp0@dcp0@head_or_tp_rank:0@group:0@cache_role:kv@cache_family:default@h",
    "m@pcp0@dcp0@head_or_tp_rank:0@pp_rank:0@group:0@cache_role:other@cache_family:default@h",
    "m@pcp0@dcp0@head_or_tp_rank:0@pp_rank:0@group:0@cache_role:kv@cache_family:default@layer_id:0@h"})
  void otherText_isRefused(String text) {
    assertThatThrownBy(() -> PoolKey.parse(text)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("was");
  }
}
