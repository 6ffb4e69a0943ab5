package io.penstock.gateway.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.gateway.engines.Answers;
import io.penstock.gateway.engines.SglangEngine;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;
import tools.jackson.databind.JsonNode;

/// Random orders of what happens, in virtual time: legs and tokens take random times, one leg may fail in one of five
/// ways, and the client may go. Whatever happens, an answer is the model's or is no answer, a failure names the leg
/// that failed, and no engine is left running or waiting.
class DialectRaceTest {
  private static final int SEEDS = 170;
  /// Spreads the first numbers of neighbouring seeds.
  private static final long SPREAD = 0x9E3779B97F4A7C15L;
  private static final Duration ALL = Duration.ofSeconds(5);
  private static final List<String> BODIES = List.of("{\"prompt\":\"a b c d\",\"max_tokens\":4}",
      "{\"prompt\":[\"a\",\"b c\",\"d e f\"],\"max_tokens\":2}", "{\"prompt\":\"a b\",\"n\":3,\"max_tokens\":3}",
      "{\"prompt\":[[1,2],[3,4]],\"n\":2,\"seed\":9,\"max_tokens\":2}");

  private enum Outcome {
    ANSWERED, FAILED, CANCELLED, PENDING
  }

  @ParameterizedTest
  @EnumSource(DialectName.class)
  void whateverHappensAnAnswerIsWholeAndNoEngineIsLeftWaiting(DialectName name) {
    Map<Outcome, Integer> outcomes = new EnumMap<>(Outcome.class);
    for (int seed = 0; seed < SEEDS; seed++) {
      Run run = new Run(name, seed);
      try {
        outcomes.merge(run.play(), 1, Integer::sum);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed + ": " + run, e);
      } finally {
        run.time.dispose();
      }
    }
    assertThat(outcomes.getOrDefault(Outcome.ANSWERED, 0)).isGreaterThan(SEEDS / 4);
    assertThat(outcomes.getOrDefault(Outcome.FAILED, 0)).isGreaterThan(SEEDS / 20);
    assertThat(outcomes.getOrDefault(Outcome.CANCELLED, 0)).isGreaterThan(SEEDS / 20);
  }

  /// One seed.
  private static final class Run {
    final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final Random random;
    private final DirectClient client = new DirectClient();
    private final Rig rig;
    private final String body;
    private final boolean stream;
    private final DirectClient.Fault fault;
    private final Leg.Role faulty;
    private final int faultyLeg;
    private final @Nullable Duration cancelled;
    private final AtomicReference<@Nullable List<AnswerEvent>> answer = new AtomicReference<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final AtomicInteger faults = new AtomicInteger();

    Run(DialectName name, int seed) {
      random = new Random(seed * SPREAD);
      rig = Rig.direct(name, client);
      body = BODIES.get(random.nextInt(BODIES.size()));
      stream = random.nextBoolean();
      DirectClient.Fault[] all = DirectClient.Fault.values();
      fault = random.nextInt(10) < 5 ? DirectClient.Fault.NONE : all[1 + random.nextInt(all.length - 1)];
      faulty = name == DialectName.SINGLE
          ? Leg.Role.BOTH
          : random.nextBoolean() ? Leg.Role.PREFILL : Leg.Role.DECODE;
      faultyLeg = random.nextInt(2);
      cancelled = random.nextInt(4) == 0 ? Duration.ofMillis(random.nextInt(40)) : null;
    }

    Outcome play() {
      client.latency(this::pause);
      rig.prefill.paced(Mono.defer(this::pause));
      rig.decode.paced(Mono.defer(this::pause));
      AtomicInteger legs = new AtomicInteger();
      client.faults(leg -> leg.role() == faulty && legs.getAndIncrement() == faultyLeg
          ? wrong()
          : DirectClient.Fault.NONE);
      String asked = stream
          ? body.replace("}", ",\"stream\":true,\"stream_options\":{\"include_usage\":true}}")
          : body;
      Disposable running = rig.dialects(client, Rig.METASERVER, random, time)
          .answer(Rig.request("/v1/completions", asked), rig.pair()).collectList()
          .subscribe(answer::set, failure::set);
      if (cancelled != null) {
        time.advanceTimeBy(cancelled);
        boolean ended = answer.get() != null || failure.get() != null;
        running.dispose();
        time.advanceTimeBy(ALL);
        nothingIsLeft();
        return ended ? outcome() : Outcome.CANCELLED;
      }
      time.advanceTimeBy(ALL);
      Outcome outcome = outcome();
      running.dispose();
      time.advanceTimeBy(ALL);
      nothingIsLeft();
      return outcome;
    }

    private Outcome outcome() {
      List<AnswerEvent> events = answer.get();
      if (events != null) {
        isTheModels(Collected.of(events));
        return Outcome.ANSWERED;
      }
      Throwable told = failure.get();
      if (told == null) {
        assertThat(fault).isEqualTo(DirectClient.Fault.HANGS);
        assertThat(faults).hasPositiveValue();
        return Outcome.PENDING;
      }
      assertThat(told).isInstanceOf(LegFailure.class);
      assertThat(faults).hasPositiveValue();
      assertThat(((LegFailure) told).role()).isEqualTo(faulty);
      return Outcome.FAILED;
    }

    private void isTheModels(Collected whole) {
      assertThat(whole.choices()).isEqualTo(Answers.expected(Json.tree(body), false));
      if (faults.get() > 0) {
        assertThat(faulty).isEqualTo(Leg.Role.PREFILL);
      }
      JsonNode usage = Answers.expectedUsage(Json.tree(body), false);
      assertThat(whole.usage()).isNotNull();
      JsonNode details = whole.usage().path("prompt_tokens_details");
      if (faults.get() == 0 || details.isObject()) {
        assertThat(details.toString()).isEqualTo(usage.path("prompt_tokens_details").toString());
      }
    }

    private void nothingIsLeft() {
      assertThat(rig.prefill.running()).as("running at prefill").isZero();
      assertThat(rig.decode.running()).as("running at decode").isZero();
      assertThat(rig.network.waiting()).as("waiting readers").isZero();
      assertThat(rig.metaserver.children()).as("children at the metaserver").isZero();
      if (rig.prefill instanceof SglangEngine prefill && rig.decode instanceof SglangEngine decode) {
        assertThat(prefill.live()).as("live at prefill").isZero();
        assertThat(decode.live()).as("live at decode").isZero();
        assertThat(rig.network.held()).as("held").isZero();
      }
      if (answer.get() != null) {
        assertThat(rig.network.held()).as("held").isZero();
      }
    }

    private DirectClient.Fault wrong() {
      if (fault != DirectClient.Fault.NONE) {
        faults.incrementAndGet();
      }
      return fault;
    }

    private Mono<Void> pause() {
      return Mono.delay(Duration.ofMillis(random.nextInt(6)), time).then();
    }

    @Override
    public String toString() {
      return rig.name.word() + " " + body + (stream ? " streamed" : "") + ", " + faulty.word() + " leg " + faultyLeg
          + " " + fault + ", cancelled after " + cancelled;
    }
  }
}
