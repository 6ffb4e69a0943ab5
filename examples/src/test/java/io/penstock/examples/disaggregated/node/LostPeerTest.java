package io.penstock.examples.disaggregated.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.registry.InstanceView.Registered;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.disagg.request.Signal;
import io.penstock.examples.disaggregated.model.Model;
import io.penstock.examples.disaggregated.model.ModelConfig;
import io.penstock.examples.disaggregated.rank.Deployment;
import io.penstock.examples.disaggregated.rank.KvFormat;
import io.penstock.examples.disaggregated.rank.Pace;
import io.penstock.examples.process.OtherJvm;
import io.penstock.storage.EngineKind;
import io.penstock.testkit.Eventually;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.rank.RegistryClient;
import io.penstock.wire.rank.WireSignals;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// One side is lost, over real sockets: the other side ends the request and frees its memory.
@Timeout(60)
final class LostPeerTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int PROMPT_TOKENS = 40;
  private static final List<Integer> PROMPT = IntStream.range(0, PROMPT_TOKENS).boxed().toList();

  @TempDir
  private Path folder;
  private final Network network = Network.create("lost");
  private final RegistryNode registry = new RegistryNode(network);

  @AfterEach
  void close() {
    registry.close();
    network.close();
  }

  /// As the command makes it from its defaults.
  private static Setup setup(LifecycleOptions lifecycle, Duration deadline) {
    Model model = Model.seeded(ModelConfig.tiny(), 1);
    KvFormat format = new KvFormat(16, TokenOrder.NHD, ElementType.FP32);
    return new Setup(Deployment.of(model, Parallelism.ofTp(4), format),
        Deployment.of(model, Parallelism.ofTp(2), format), true, new Setup.Tokens(PROMPT_TOKENS, 4, 0), Pace.whole(), 1,
        lifecycle,
        deadline);
  }

  private TierMaker maker(String name) {
    return new TierMaker(TierKind.DRAM, EngineKind.PLAIN, folder.resolve(name), null);
  }

  private static Ask ask(Ask.Kind kind) {
    return new Ask(kind, "r", PROMPT, Nodes.prefillName(0));
  }

  private static void await(BooleanSupplier holds) {
    Eventually.holds("the condition holds", holds::getAsBoolean);
  }

  /// Its ranks say that they will read, and are never heard again: the lease ends, long before the time for a first
  /// sign would.
  @Test
  void decodeThatVanishesBeforeItIsDone_costsNoMoreThanALease() {
    Setup setup = setup(LifecycleOptions.defaults().withLease(Duration.ofMillis(300), PATIENCE), PATIENCE);
    try (TierMaker maker = maker("prefill");
        PrefillNode prefill = new PrefillNode(Nodes.prefillName(0), setup, registry.port(), network, maker, () -> 0)) {
      prefill.ask(ask(Ask.Kind.PREFILL));
      assertThat(prefill.held()).as("a request a rank, and its aux data").isEqualTo(5);
      assertThat(prefill.claimedBlocks()).isPositive();

      renewOnce(setup);

      await(() -> prefill.held() == 0);
      assertThat(prefill.claimedBlocks()).isZero();
    }
  }

  private void renewOnce(Setup setup) {
    RegistryClient client = RegistryNode.client(registry.port(), network);
    InstanceView view = client.ready(Nodes.prefillName(0), PATIENCE).blockOptional(PATIENCE).orElseThrow();
    WireSignals signals = new WireSignals(rank -> Mono.justOrEmpty(view.rank(rank.rank().rank()))
        .map(place -> TcpTransport.client(TcpClientOptions.to("127.0.0.1", place.endpoint().port()), network.loops())),
        KvClientOptions.defaults(), KvPeerOptions.defaults(), network.timers(), new Random(1));
    Incarnation decode = new RankId(Nodes.decodeName(0), 0).since(1);
    Flux.fromIterable(view.ranks()).map(Registered::who).concatMap(rank -> Flux.just("r", AuxBlocks.name("r"))
        .concatMap(name -> signals.send(rank, new Signal(Signal.Kind.RENEW, name, decode, setup.decode().shards()
            .size()))))
        .blockLast(PATIENCE);
    signals.close().then(client.close()).block(PATIENCE);
  }

  @Test
  void killedPrefill_endsTheRequestOnceWithinItsDeadline() throws IOException, InterruptedException {
    Setup setup = setup(LifecycleOptions.defaults()
        .withPatience(new LifecycleOptions.Patience(PATIENCE, PATIENCE, PATIENCE, Duration.ofSeconds(1)))
        .withSignals(new LifecycleOptions.Signals(2, Duration.ofSeconds(1))), Duration.ofSeconds(10));
    Process process = OtherJvm.start(List.of(), List.of("disaggregated", "--serve", "prefill", "--number", "0",
        "--registry", "" + registry.port()));
    try (TierMaker maker = maker("decode");
        DecodeNode decode = new DecodeNode(Nodes.decodeName(0), setup, registry.port(), network, maker, () -> 0)) {
      assertThat(process.inputReader().readLine()).as("the prefill has started").isNotNull();
      RegistryClient client = RegistryNode.client(registry.port(), network);
      assertThat(Flux.just(Nodes.decodeName(0), Nodes.prefillName(0))
          .concatMap(name -> client.ready(name, PATIENCE)).map(InstanceView::side).collectList().block(PATIENCE))
          .containsExactly(Side.DECODE, Side.PREFILL);
      client.close().block(PATIENCE);
      decode.ask(ask(Ask.Kind.RECEIVE));
      assertThat(decode.figures()).extracting(figures -> figures.requests()).containsExactly(2L, 1L);

      process.destroyForcibly().waitFor();

      assertThatThrownBy(() -> decode.ask(ask(Ask.Kind.DECODE))).hasMessageContaining("was FAILED");
      await(() -> decode.figures().stream().allMatch(figures -> figures.requests() == 0));
      assertThat(decode.claimedBlocks()).isZero();
    } finally {
      process.destroyForcibly();
    }
  }
}
