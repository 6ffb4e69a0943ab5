package io.penstock.gateway.choice;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The policy `load` chooses as `vllm-ascend`'s proxy did. The recorded trace is not part of this repository: name its
/// folder in `-Dpenstock.oracles=…`; without it, `shared/oracles` beside the repository is looked for.
final class ProxySelectionTest {
  private static final double EXACT = 1e-6;

  private final Router router =
      new Router(Policy.LOAD, Router.Options.defaults(), () -> 0, new SplittableRandom(1));
  /// Numbers of the instances; the trace names prefills and decodes apart.
  private final Map<String, Integer> numbers = new LinkedHashMap<>();
  private final Map<String, List<Choice>> byPrefill = new HashMap<>();
  private final Map<String, List<Choice>> byDecode = new HashMap<>();
  private JsonNode cases;

  @BeforeEach
  void read() {
    Path file = Path.of(System.getProperty("penstock.oracles", "../../../shared/oracles"), "proxy_selection.json");
    assumeTrue(Files.isReadable(file), "no readable file " + file.toAbsolutePath());
    cases = JsonMapper.shared().readTree(file.toFile());
  }

  private static Prompt prompt(double bytes) {
    return new Prompt(new long[0], 16, Math.round(bytes / 4), Math.round(bytes), null);
  }

  @Test
  void scores() {
    int number = router.add("one", true);
    for (JsonNode one : cases.get("prefill_score")) {
      try (Choice choice = requireNonNull(router.choose(prompt(one.get("request_bytes").asInt()), 1L << number, 0))) {
        assertThat(router.load(choice.prefill()).heldScore()).isCloseTo(one.get("score").asDouble(), within(EXACT));
      }
    }
  }

  @Test
  void choices() {
    JsonNode trace = cases.get("trace");
    trace.get(0).get("state").get("prefill").propertyNames().forEach(this::add);
    trace.get(0).get("state").get("decode").propertyNames().forEach(this::add);
    int checked = 0;
    for (int i = 0; i < trace.size(); i++) {
      JsonNode step = trace.get(i);
      JsonNode next = i + 1 < trace.size() ? trace.get(i + 1) : step;
      switch (step.get("op").asString()) {
        case "begin_request" -> {
          // The proxy chooses the two halves one after the other, and the router both at once.
          boolean isSplit = next.get("op").asString().equals("pick_decoder");
          double bytes = (step.get("args").get(0).asDouble() - 120.0745) / 0.0345 * 4;
          Choice choice = choose(bytes, step, isSplit ? next : null);
          checked += isSplit ? 2 : 1;
          if (isSplit) {
            assertThat(bytes).isCloseTo(next.get("args").get(0).asDouble(), within(EXACT));
            byDecode.computeIfAbsent(name(next), key -> new ArrayList<>()).add(choice);
            i++;
          }
          byPrefill.computeIfAbsent(name(step), key -> new ArrayList<>()).add(choice);
        }
        case "pick_decoder" -> {
          Choice choice = requireNonNull(router.choose(prompt(step.get("args").get(0).asInt()), 1L,
              among(step, "decode")));
          assertThat(choice.decode()).isEqualTo(numbers.get(name(step)));
          choice.handedOver();
          checked++;
        }
        case "release_prefill_kv" ->
          requireNonNull(byPrefill.get(step.get("args").get(0).asString())).removeFirst().handedOver();
        case "release_decoder" ->
          requireNonNull(byDecode.get(step.get("args").get(0).asString())).removeFirst().close();
        case "activate_waiting_instance" -> {
          String name = step.get("args").get(1).asString() + ":" + step.get("args").get(2).asInt();
          assertThat(numbers).doesNotContainKey(name);
          add(name);
        }
        default -> {
        } // an instance that is tainted, or waits, is not among the candidates
      }
      state(trace.get(i).get("state"));
    }
    assertThat(checked).isGreaterThan(5);
  }

  private void add(String name) {
    numbers.put(name, router.add(name, true));
  }

  private static String name(JsonNode step) {
    return step.get("result").get("key").asString();
  }

  private Choice choose(double bytes, JsonNode prefill, @Nullable JsonNode decode) {
    Choice choice = requireNonNull(
        router.choose(prompt(bytes), among(prefill, "prefill"), decode == null ? 0 : among(decode, "decode")));
    assertThat(choice.prefill()).as("prefill of %s", prefill.get("args")).isEqualTo(numbers.get(name(prefill)));
    if (decode != null) {
      assertThat(choice.decode()).as("decode of %s", decode.get("args")).isEqualTo(numbers.get(name(decode)));
    }
    return choice;
  }

  /// The instances that are not tainted.
  private long among(JsonNode step, String role) {
    long among = 0;
    JsonNode state = step.get("state");
    for (String name : state.get(role).propertyNames()) {
      boolean isTainted = false;
      for (JsonNode tainted : state.get("tainted").get(role)) {
        isTainted |= tainted.asString().equals(name);
      }
      if (!isTainted) {
        among |= 1L << requireNonNull(numbers.get(name));
      }
    }
    return among;
  }

  private void state(JsonNode state) {
    state.get("prefill").properties().forEach(each -> assertThat(load(each.getKey()).heldScore())
        .as("score of %s", each.getKey()).isCloseTo(each.getValue().get(1).asDouble(), within(EXACT)));
    state.get("decode").properties().forEach(each -> assertThat(load(each.getKey()).decodeBytes())
        .as("bytes of %s", each.getKey()).isCloseTo(each.getValue().asDouble(), within(EXACT)));
  }

  private Router.Load load(String name) {
    return router.load(requireNonNull(numbers.get(name)));
  }
}
