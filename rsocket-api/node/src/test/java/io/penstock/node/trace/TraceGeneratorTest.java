package io.penstock.node.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.OutputStream;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32C;
import java.util.zip.CheckedOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class TraceGeneratorTest {
  private final List<TraceRequest> trace = TraceReaderTest.all(new TraceGenerator(GeneratorOptions.defaults()));

  @Test
  void equalSeeds_makeEqualTraces() {
    assertThat(TraceReaderTest.all(new TraceGenerator(GeneratorOptions.defaults()))).isEqualTo(trace);
    assertThat(TraceReaderTest.all(new TraceGenerator(GeneratorOptions.defaults().withSeed(2)))).isNotEqualTo(trace);
    assertThat(TraceReaderTest.all(new TraceGenerator(GeneratorOptions.defaults().withRequests(10))))
        .isEqualTo(trace.subList(0, 10));
  }

  @Test
  void trace_ofSeedOne_isTheSameOnEveryMachine() {
    CRC32C crc = new CRC32C();
    try (TraceWriter writer = new TraceWriter(new CheckedOutputStream(OutputStream.nullOutputStream(), crc))) {
      trace.forEach(writer::write);
    }
    assertThat(crc.getValue()).isEqualTo(1_741_794_220L);
  }

  @Test
  void defaults_makeAThousandRequestsInOrderOfTime() {
    assertThat(trace).hasSize(1_000)
        .isSortedAccordingTo(Comparator.comparingLong(TraceRequest::timestampMillis));
  }

  @Test
  void everyPrompt_hasOneIdForEachStartedBlock() {
    assertThat(trace).allSatisfy(request -> assertThat(request.blocks())
        .isEqualTo((int) Math.ceilDiv(request.inputTokens(), 512L)).isPositive());
  }

  @Test
  void anId_standsForItsBlockAndAllBeforeIt() {
    Map<Long, Long> parents = new HashMap<>();
    for (TraceRequest request : trace) {
      long parent = -1;
      for (long id : request.hashIds()) {
        Long known = parents.putIfAbsent(id, parent);
        assertThat(known == null || known == parent).as("id %d follows one block only", id).isTrue();
        parent = id;
      }
    }
  }

  @Test
  void trace_looksLikeConversations() {
    long references = 0;
    Set<Long> distinct = new HashSet<>();
    for (TraceRequest request : trace) {
      references += request.blocks();
      distinct.addAll(request.hashIds());
    }
    assertThat(1 - distinct.size() / (double) references).as("repeats").isBetween(0.3, 0.8);
    assertThat(trace.stream().mapToLong(TraceRequest::inputTokens).average().orElseThrow()).as("prompt")
        .isBetween(6_000.0, 20_000.0);
    assertThat(trace.stream().mapToLong(TraceRequest::inputTokens).max().orElseThrow()).as("longest")
        .isLessThanOrEqualTo(128 << 10);
    assertThat(trace.stream().map(request -> request.hashIds().getFirst()).distinct().count()).as("first blocks")
        .isLessThan(300);
  }

  @Test
  void options_withoutRequests_areRefused() {
    assertThatThrownBy(() -> GeneratorOptions.defaults().withRequests(0)).hasMessage("requests must be > 0 (was 0)");
  }

  @ParameterizedTest
  @EnumSource(Workload.class)
  void everyWorkload_isSeeded_inOrderOfTime_andItsIdsNameAPrefix(Workload workload) {
    GeneratorOptions options = GeneratorOptions.defaults().withRequests(300);
    List<TraceRequest> requests = TraceReaderTest.all(workload.open(options));

    assertThat(requests).hasSize(300).isSortedAccordingTo(Comparator.comparingLong(TraceRequest::timestampMillis));
    assertThat(TraceReaderTest.all(workload.open(options))).isEqualTo(requests);
    assertThat(TraceReaderTest.all(workload.open(options.withSeed(2)))).isNotEqualTo(requests);
    Map<Long, Long> parents = new HashMap<>();
    for (TraceRequest request : requests) {
      assertThat(request.blocks()).isEqualTo((int) Math.ceilDiv(request.inputTokens(), 512L)).isPositive();
      long parent = -1;
      for (long id : request.hashIds()) {
        Long known = parents.putIfAbsent(id, parent);
        assertThat(known == null || known == parent).as("id %d follows one block only", id).isTrue();
        parent = id;
      }
    }
  }
}
