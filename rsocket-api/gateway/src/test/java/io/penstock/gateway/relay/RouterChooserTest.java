package io.penstock.gateway.relay;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.gateway.api.ApiJson;
import io.penstock.gateway.choice.Policy;
import io.penstock.gateway.choice.Prompt;
import io.penstock.gateway.choice.Router;
import io.penstock.gateway.dialect.EngineAddress;
import io.penstock.gateway.events.EventOptions;
import io.penstock.gateway.events.EventSubscriber;
import io.penstock.gateway.instance.HealthOptions;
import io.penstock.gateway.instance.Instance;
import io.penstock.gateway.instance.InstanceRole;
import io.penstock.gateway.instance.Instances;
import io.penstock.gateway.prompt.GivenTokens;
import io.penstock.gateway.prompt.NamedPrompt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;
import tools.jackson.databind.node.ObjectNode;

/// Instances that come and go, and their events.
@Timeout(60)
final class RouterChooserTest {
  private static final int BLOCK_TOKENS = 16;
  private static final int PATIENCE_MILLIS = 20_000;

  private final Router router =
      new Router(Policy.PREFIX, Router.Options.defaults(), System::nanoTime, new SplittableRandom(1));
  private final EventSubscriber events =
      EventSubscriber.start(router.index(), EventOptions.defaults(BLOCK_TOKENS), System::nanoTime);
  private final Instances instances =
      new Instances(new HealthOptions(Duration.ofSeconds(5), Duration.ofSeconds(1), 3, 2), address -> Mono.never(),
          VirtualTimeScheduler.create());

  @AfterEach
  void close() {
    instances.close();
    events.close().block();
  }

  @Test
  void instance_whoseAddressNamesItsEvents_isFollowedUntilItIsRemoved() {
    instances.listen(new RouterChooser(router, new GivenTokens(BLOCK_TOKENS), BLOCK_TOKENS, events));
    try (ZMQ.Context context = ZMQ.context(1); ZMQ.Socket engine = context.socket(SocketType.XPUB)) {
      engine.setLinger(0);
      engine.setReceiveTimeOut(PATIENCE_MILLIS);
      int port = engine.bindToRandomPort("tcp://127.0.0.1");

      instances.add("one", InstanceRole.BOTH,
          EngineAddress.parse("http://127.0.0.1:1#events=tcp://127.0.0.1:" + port + "&events-of=node"));
      assertThat(engine.recv()).as("it subscribes").isEqualTo(new byte[] {1});
      instances.remove("one").block();
      assertThat(engine.recv()).as("it subscribes no longer").isEqualTo(new byte[] {0});
    }
  }

  @Test
  void choice_whoseInstanceWentAtThatMoment_fallsOnAnother() {
    RouterChooser chooser = new RouterChooser(router, new GivenTokens(BLOCK_TOKENS), BLOCK_TOKENS, events);
    Instances live = new Instances(new HealthOptions(Duration.ofSeconds(5), Duration.ofSeconds(1), 3, 2),
        address -> Mono.empty(), VirtualTimeScheduler.create());
    live.listen(chooser);
    for (String name : List.of("p1", "p2")) {
      live.observe(live.add(name, InstanceRole.PREFILL, EngineAddress.parse("http://127.0.0.1:1")), true);
    }
    for (String name : List.of("d1", "d2")) {
      live.observe(live.add(name, InstanceRole.DECODE, EngineAddress.parse("http://127.0.0.1:2")), true);
    }
    Prompt prompt = new NamedPrompt(new long[0], 10, false).prompt(BLOCK_TOKENS, 40, null);
    List<Instance> prefills = live.live(InstanceRole.PREFILL);
    List<Instance> decodes = live.live(InstanceRole.DECODE);

    live.drain("p1", true); // after the lists were made
    live.remove("d1").block();
    for (int i = 0; i < 4; i++) {
      Chosen chosen = requireNonNull(chooser.choose(prompt, prefills, decodes, List.of()));
      assertThat(requireNonNull(chosen.prefill()).name()).isEqualTo("p2");
      assertThat(chosen.decode().name()).isEqualTo("d2");
      chosen.close();
    }
    live.remove("p2").block();
    assertThat(chooser.choose(prompt, prefills, decodes, List.of())).isNull();
    live.close();
  }

  @Test
  void source_isThePeerThatHasMore_withItsPlaces() {
    RouterChooser chooser = new RouterChooser(router, new GivenTokens(BLOCK_TOKENS), BLOCK_TOKENS, events);
    Instances live = new Instances(HealthOptions.defaults(), address -> Mono.empty(), VirtualTimeScheduler.create());
    live.listen(chooser);
    live.observe(live.add("one", InstanceRole.BOTH,
        EngineAddress.parse("http://10.0.0.1:8100#kv-host=10.1.0.1&kv-port=5600")), true);
    live.observe(live.add("two", InstanceRole.BOTH, EngineAddress.parse("http://10.0.0.2:8100")), true);
    ObjectNode body = ApiJson.object();
    IntStream.range(0, 3 * BLOCK_TOKENS + 1).forEach(body.putArray("prompt")::add);
    Prompt prompt = requireNonNull(
        chooser.look(new RelayRequest("/v1/completions", body, "r", Map.of(), 100, 4, null)).block());

    assertThat(sources(chooser, live, prompt)).as("it has the prompt itself, or no one has").containsExactly("none",
        "none");
    live.drain("one", true);
    assertThat(sources(chooser, live, prompt))
        .containsExactly("one;blocks=3;url=http://10.0.0.1:8100;kv=10.1.0.1:5600", "none");
    live.close();
  }

  private static List<String> sources(RouterChooser chooser, Instances live, Prompt prompt) {
    List<String> sources = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      try (Chosen chosen = requireNonNull(
          chooser.choose(prompt, List.of(), List.of(), live.live(InstanceRole.BOTH)))) {
        sources.add(Objects.requireNonNullElse(chosen.source(), "none"));
      }
    }
    return sources;
  }

  @Test
  void events_thatAreNoAddress_areRefusedByName() {
    instances.listen(new RouterChooser(router, new GivenTokens(BLOCK_TOKENS), BLOCK_TOKENS, events));

    assertThatThrownBy(() -> EngineAddress.parse("http://127.0.0.1:1#events-of=client"))
        .hasMessage("events-of must be engine or node (was client)");
    assertThatThrownBy(() -> EngineAddress.parse("http://127.0.0.1:1#events-of=node"))
        .hasMessage("events-of must come with events (was alone)");
    assertThatThrownBy(() -> instances.add("one", InstanceRole.BOTH,
        EngineAddress.parse("http://127.0.0.1:1#events=127.0.0.1:5557")))
        .hasMessage("events must be tcp://HOST:PORT (was 127.0.0.1:5557)");
    assertThat(instances.all()).isEmpty();
  }
}
