package io.penstock.gateway.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.gateway.api.ApiException;
import io.penstock.gateway.api.ApiJson;
import io.penstock.gateway.choice.Prompt;
import io.penstock.gateway.dialect.AnswerEvent;
import io.penstock.gateway.dialect.EngineAddress;
import io.penstock.gateway.instance.HealthOptions;
import io.penstock.gateway.instance.Instance;
import io.penstock.gateway.instance.InstanceRole;
import io.penstock.gateway.instance.Instances;
import io.penstock.gateway.instance.ModelCatalog;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

/// The limits of time of a request, before an engine that stalls, in virtual time.
final class RelayLimitsTest {
  private static final Duration STEP = Duration.ofMillis(1);
  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final Instances instances = new Instances(HealthOptions.defaults(), address -> Mono.empty(), time);
  private final Instance engine = instances.add("a", InstanceRole.BOTH, EngineAddress.parse("http://127.0.0.1:1"));
  private final Admission admission = new Admission(AdmissionOptions.defaults(), () -> 1, time);
  private final RelayOptions limits = new RelayOptions(3, 0, Duration.ofSeconds(120), Duration.ofSeconds(60),
      Duration.ofSeconds(600));
  private final List<String> log = new ArrayList<>();
  private final AtomicInteger cancels = new AtomicInteger();
  private final ModelCatalog models = new ModelCatalog();
  private Flux<AnswerEvent> answer = Flux.never();
  private List<Instance> offered = List.of();

  /// The engine alone.
  private record Only(Instance decode) implements Chosen {
    @Override
    public @Nullable Instance prefill() {
      return null;
    }

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

  private final Chooser chooser = new Chooser() {
    @Override
    public Mono<Prompt> look(RelayRequest request) {
      return Mono.just(new Prompt(new long[0], 16, 1, 1, null));
    }

    @Override
    public @Nullable Chosen choose(Prompt prompt, List<Instance> prefills, List<Instance> decodes,
        List<Instance> both) {
      offered = both;
      return engine.begin() ? new Only(engine) : null;
    }
  };

  private Reader ask(String body) {
    time.advanceTimeBy(STEP); // the first probe
    Relay relay = new Relay(limits, admission, chooser, instances,
        (request, pair) -> answer.doOnCancel(cancels::incrementAndGet), models,
        new OwnForms(Set.of()), time);
    RelayRequest asked = new RelayRequest("/v1/completions", ApiJson.request(body.getBytes(StandardCharsets.UTF_8)),
        "r", Map.of(), 10, 4,
        null);
    Reader reader = new Reader();
    relay.answer(asked, new RelayTrace()).subscribe(reader);
    return reader;
  }

  private final class Reader extends BaseSubscriber<AnswerEvent> {
    @Override
    protected void hookOnSubscribe(Subscription subscription) {}

    @Override
    protected void hookOnNext(AnswerEvent event) {
      log.add("event");
    }

    @Override
    protected void hookOnError(Throwable failure) {
      log.add(failure instanceof ApiException named ? named.status() + " " + named.getMessage() : failure.toString());
    }

    @Override
    protected void hookOnComplete() {
      log.add("end");
    }
  }

  private static AnswerEvent chunk() {
    return new AnswerEvent.Chunk("{\"choices\":[{\"text\":\"a\"}]}");
  }

  @Test
  void aFirstEventThatDoesNotCome_endsAStream() {
    ask("{\"prompt\":\"x\",\"stream\":true}").requestUnbounded();
    time.advanceTimeBy(limits.first().minus(STEP));
    assertThat(log).isEmpty();
    time.advanceTimeBy(STEP);
    assertThat(log).containsExactly("504 time of a first event must be at most 120000 ms (was longer)");
    assertThat(cancels).hasValue(1);
    assertThat(engine.requests()).isZero();
    assertThat(admission.running()).isZero();
  }

  @Test
  void aModelWhoseInstancesAreDown_isTriedThere_thoughAnotherModelIsUp() {
    Instance other = instances.add("b", InstanceRole.BOTH, EngineAddress.parse("http://127.0.0.1:2"));
    models.learn(engine.address(), ApiJson.MAPPER.readTree("{\"data\":[{\"id\":\"ma\"}]}"));
    models.learn(other.address(), ApiJson.MAPPER.readTree("{\"data\":[{\"id\":\"mb\"}]}"));
    time.advanceTimeBy(STEP);
    for (int i = 0; i < HealthOptions.defaults().downAfter(); i++) {
      instances.observe(other, false);
    }
    ask("{\"model\":\"mb\",\"prompt\":\"x\",\"stream\":true}").requestUnbounded();
    assertThat(engine.isLive()).isTrue();
    assertThat(offered).containsExactly(other);
  }

  @Test
  void silenceBetweenTwoTokens_endsAStream() {
    Sinks.Many<AnswerEvent> events = Sinks.many().unicast().onBackpressureBuffer();
    answer = events.asFlux();
    ask("{\"prompt\":\"x\",\"stream\":true}").requestUnbounded();
    for (int i = 0; i < 3; i++) {
      time.advanceTimeBy(limits.idle().minus(STEP));
      events.tryEmitNext(chunk());
    }
    time.advanceTimeBy(limits.idle());
    assertThat(log).containsExactly("event", "event", "event",
        "504 time of silence of an engine must be at most 60000 ms (was longer)");
    assertThat(cancels).hasValue(1);
  }

  @Test
  void aSlowReader_doesNotMakeItsEngineSilent() {
    answer = Flux.range(0, 5).map(i -> chunk());
    Reader reader = ask("{\"prompt\":\"x\",\"stream\":true}");
    reader.request(2);
    time.advanceTimeBy(limits.idle().multipliedBy(3));
    assertThat(log).containsExactly("event", "event");
    reader.request(10);
    assertThat(log).hasSize(6).endsWith("end");
  }

  @Test
  void anAnswerThatIsNotStreamed_hasTheTimeOfTheWhole() {
    ask("{\"prompt\":\"x\"}").requestUnbounded();
    time.advanceTimeBy(limits.total().minus(STEP));
    assertThat(log).isEmpty();
    time.advanceTimeBy(STEP);
    assertThat(log).hasSize(1).first().asString().startsWith("504 ").contains("must be at most 600000 ms");
    assertThat(cancels).hasValue(1);
  }

  @Test
  void theWholeOfAStream_isLimited_howeverItGoesOn() {
    answer = Flux.interval(Duration.ofSeconds(50), time).map(i -> chunk());
    ask("{\"prompt\":\"x\",\"stream\":true}").requestUnbounded();
    time.advanceTimeBy(limits.total().plus(STEP));
    assertThat(log).endsWith("504 time of a request must be at most 600000 ms (was longer)").hasSize(12);
    assertThat(cancels).hasValue(1);
  }

  @Test
  void theWait_isPartOfTheWhole() {
    Admission.Ticket before = admission.enter(4);
    ask("{\"prompt\":\"x\",\"stream\":true}").requestUnbounded();
    time.advanceTimeBy(AdmissionOptions.defaults().patience());
    assertThat(log).hasSize(1).first().asString().startsWith("503 wait for an engine must be at most 30000 ms");
    before.leave();
    assertThat(admission.waiting()).isZero();
  }
}
