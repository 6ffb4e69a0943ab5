package io.penstock.gateway.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.gateway.choice.Prompt;
import io.penstock.gateway.engines.Answers;
import io.penstock.gateway.engines.SglangEngine;
import io.penstock.gateway.instance.HealthOptions;
import io.penstock.gateway.instance.Instance;
import io.penstock.gateway.instance.InstanceRole;
import io.penstock.gateway.instance.Instances;
import io.penstock.gateway.instance.ModelCatalog;
import io.penstock.gateway.prompt.NamedPrompt;
import io.penstock.gateway.relay.Admission;
import io.penstock.gateway.relay.AdmissionOptions;
import io.penstock.gateway.relay.Chooser;
import io.penstock.gateway.relay.Chosen;
import io.penstock.gateway.relay.OwnForms;
import io.penstock.gateway.relay.Relay;
import io.penstock.gateway.relay.RelayOptions;
import io.penstock.gateway.relay.RelayRequest;
import io.penstock.gateway.relay.RelayTrace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Decode engines die in the middle of a stream, in each dialect and in virtual time. Another pair of legs goes on, and
/// the client gets the tokens of an engine that did not die, or an error, but never a part that looks whole.
final class ResumedLegsTest {
  private static final int SEEDS = 12;
  private static final int PROOF_SEEDS = 2_000;
  private static final long SPREAD = 0x9E3779B97F4A7C15L;
  private static final Duration ALL = Duration.ofSeconds(10);
  private static final String USAGE = ",\"stream\":true,\"stream_options\":{\"include_usage\":true}}";
  private static final List<String> BODIES = List.of("{\"prompt\":\"a b c d\",\"max_tokens\":5" + USAGE,
      "{\"prompt\":[1,2,3,4,5],\"seed\":9,\"max_tokens\":4" + USAGE,
      "{\"messages\":[{\"role\":\"user\",\"content\":\"a b c\"}],\"max_tokens\":5" + USAGE);

  @ParameterizedTest
  @EnumSource(DialectName.class)
  void answerOfADecodeThatDies_goesOnTokenByToken(DialectName name) {
    play(name, SEEDS);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource(DialectName.class)
  void answersOfManyDecodesThatDie_goOnTokenByToken(DialectName name) {
    play(name, PROOF_SEEDS);
  }

  private static void play(DialectName name, int seeds) {
    int resumed = 0;
    for (int seed = 0; seed < seeds; seed++) {
      Run run = new Run(name, seed);
      try {
        resumed += run.play();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed + ": " + name.word() + " " + run.body + ", " + run.deaths
            + " deaths", e);
      } finally {
        run.time.dispose();
      }
    }
    assertThat(resumed).isGreaterThan(seeds / 3);
  }

  /// One seed.
  private static final class Run {
    final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    final String body;
    /// Legs of decodes that break, from the first one on; a third one cannot go on any more.
    final int deaths;
    private final Random random;
    private final DirectClient client = new DirectClient();
    private final Rig rig;
    private final boolean chat;
    private final List<Leg> decodes = new ArrayList<>();
    private final AtomicReference<@Nullable List<AnswerEvent>> answer = new AtomicReference<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final List<AnswerEvent> events = new ArrayList<>();

    Run(DialectName name, int seed) {
      random = new Random(seed * SPREAD);
      rig = Rig.direct(name, client);
      body = BODIES.get(random.nextInt(BODIES.size()));
      chat = body.contains("messages");
      deaths = 1 + random.nextInt(3);
    }

    /// @return number of times that the answer went on
    int play() {
      client.latency(this::pause);
      rig.prefill.paced(Mono.defer(this::pause));
      rig.decode.paced(Mono.defer(this::pause));
      client.breaksAfter(() -> 1 + random.nextInt(4));
      client.faults(this::fault);
      Instances instances = new Instances(HealthOptions.defaults(), address -> Mono.empty(), time);
      boolean single = rig.name == DialectName.SINGLE;
      if (!single) {
        up(instances, "p", InstanceRole.PREFILL, Rig.PREFILL);
      }
      up(instances, "d1", single ? InstanceRole.BOTH : InstanceRole.DECODE, Rig.DECODE);
      up(instances, "d2", single ? InstanceRole.BOTH : InstanceRole.DECODE, Rig.SPARE);
      Admission admission = new Admission(AdmissionOptions.defaults(), () -> 256, time);
      Relay relay = new Relay(RelayOptions.defaults(), admission, new InTurnChooser(), instances,
          rig.dialects(client, Rig.METASERVER, random, time), new ModelCatalog(), new OwnForms(Set.of()), time);
      RelayTrace trace = new RelayTrace();
      RelayRequest request = new RelayRequest(chat ? EngineRequest.CHAT : EngineRequest.COMPLETIONS,
          (ObjectNode) Json.tree(body), "r1", Map.of(), body.length(), 0, null);
      Disposable running = relay.answer(request, trace).doOnNext(events::add).collectList()
          .subscribe(answer::set, failure::set);
      time.advanceTimeBy(ALL);
      running.dispose();
      instances.close();
      check(trace);
      nothingIsLeft(instances, admission);
      return trace.resumes();
    }

    private void check(RelayTrace trace) {
      List<AnswerEvent> whole = answer.get();
      if (whole == null) {
        assertThat(failure.get()).isInstanceOfSatisfying(LegFailure.class,
            death -> assertThat(death.status()).as("SGLang refuses ids in chats, and the gateway goes without")
                .isZero());
        boolean unnamed = rig.name == DialectName.SGLANG && chat;
        assertThat(unnamed || decodes.size() == 3).as("legs of decodes: %d", decodes.size()).isTrue();
        String expected = Answers.expected(Json.tree(body), chat).getFirst();
        for (String part : Collected.of(events).choices()) { // what came was right, and did not look whole
          assertThat(part).endsWith(":null");
          assertThat(expected).startsWith(part.substring(0, part.length() - ":null".length()));
        }
        return;
      }
      Collected collected = Collected.of(whole);
      assertThat(collected.choices()).isEqualTo(Answers.expected(Json.tree(body), chat));
      assertThat(collected.ids()).hasSize(1);
      JsonNode usage = Answers.expectedUsage(Json.tree(body), chat);
      for (String count : List.of("prompt_tokens", "completion_tokens", "total_tokens")) {
        assertThat(collected.usage().path(count)).as(count).isEqualTo(usage.path(count));
      }
      assertThat(whole.toString()).doesNotContain("token_ids");
      assertThat(decodes.stream().map(leg -> leg.engine().toString()).distinct().count())
          .as("engines that answered").isGreaterThanOrEqualTo(trace.resumes() > 0 && decodes.size() > 1 ? 2 : 1);
    }

    private DirectClient.Fault fault(Leg leg) {
      if (leg.role() == Leg.Role.PREFILL) {
        return DirectClient.Fault.NONE;
      }
      decodes.add(leg);
      return decodes.size() <= deaths ? DirectClient.Fault.BREAKS : DirectClient.Fault.NONE;
    }

    private static void up(Instances instances, String name, InstanceRole role, String url) {
      instances.observe(instances.add(name, role, EngineAddress.parse(url)), true);
    }

    private void nothingIsLeft(Instances instances, Admission admission) {
      assertThat(rig.prefill.running()).as("running at prefill").isZero();
      assertThat(rig.decode.running()).as("running at decode").isZero();
      assertThat(rig.network.waiting()).as("waiting readers").isZero();
      assertThat(rig.network.held()).as("held").isZero();
      assertThat(rig.metaserver.children()).as("children at the metaserver").isZero();
      assertThat(instances.all()).allMatch(instance -> instance.requests() == 0);
      assertThat(admission.running()).isZero();
      if (rig.prefill instanceof SglangEngine prefill && rig.decode instanceof SglangEngine decode) {
        assertThat(prefill.live() + decode.live()).as("live").isZero();
      }
    }

    private Mono<Void> pause() {
      return Mono.delay(Duration.ofMillis(random.nextInt(6)), time).then();
    }
  }

  /// The first instances of each list.
  private static final class InTurnChooser implements Chooser {
    @Override
    public Mono<Prompt> look(RelayRequest request) {
      return Mono.just(new NamedPrompt(new long[0], 10, false).prompt(16, 40, null));
    }

    @Override
    public @Nullable Chosen choose(Prompt prompt, List<Instance> prefills, List<Instance> decodes,
        List<Instance> both) {
      List<Instance> answering = decodes.isEmpty() ? both : decodes;
      if (answering.isEmpty() || !answering.getFirst().begin()) {
        return null;
      }
      return new Held(prefills.isEmpty() ? null : prefills.getFirst(), answering.getFirst());
    }
  }

  private record Held(@Nullable Instance prefill, Instance decode) implements Chosen {
    @Override
    public @Nullable String source() {
      return null;
    }

    @Override
    public void begun() {}

    @Override
    public void close() {
      decode.end();
    }
  }
}
