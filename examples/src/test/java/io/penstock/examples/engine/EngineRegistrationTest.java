package io.penstock.examples.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.registry.RankRegistry;
import io.penstock.disagg.registry.Registration.Engine;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.registry.RegistryOptions;
import io.penstock.examples.engine.transformer.EngineRole;
import io.penstock.examples.engine.transformer.ToyTransformer;
import io.penstock.testkit.Eventually;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.route.DisaggServices;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

@Timeout(30)
final class EngineRegistrationTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private final LoopResources loops = LoopResources.create("registry", 1, true);
  private final Scheduler timers = Schedulers.newSingle("registry-timers", true);
  private final RankRegistry ranks = new RankRegistry(RegistryOptions.defaults(), System::nanoTime, gone -> {});
  private final KvServer node = requireNonNull(KvServer.bind(
      TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops), NodeSpaces.none(), null,
      new DisaggServices(ranks, null), KvServerOptions.defaults(), new ByteBudget("node", 1 << 20, 4), timers,
      Schedulers.immediate()).block(PATIENCE));

  @AfterEach
  void close() {
    node.close().block(PATIENCE);
    timers.dispose();
    loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
  }

  private Engine engine(String name) {
    return requireNonNull(ranks.instance(name).orElseThrow().ranks().getFirst().engine());
  }

  @Test
  void anEngine_registers_drains_andLeaves() {
    Endpoint registry =
        Endpoint.parse("127.0.0.1:" + ((InetSocketAddress) ((TcpListener) node.listening()).address()).getPort());
    Endpoint away = Endpoint.parse("127.0.0.1:1");
    ToyTransformer model = new ToyTransformer(7, 64);
    EngineRegistration prefill = new EngineRegistration(List.of(registry), "p", EngineRole.PREFILL,
        URI.create("http://127.0.0.1:8100"), "127.0.0.1:7001", model);
    EngineRegistration decode = new EngineRegistration(List.of(away, registry), "d", EngineRole.DECODE,
        URI.create("http://127.0.0.1:8200"), "127.0.0.1:8200", model);
    Eventually.holds("both are registered", () -> ranks.instances().size() == 2);

    InstanceView first = ranks.instance("p").orElseThrow();
    assertThat(first.side()).isEqualTo(Side.PREFILL);
    assertThat(first.isReady()).isTrue();
    assertThat(engine("p")).isEqualTo(new Engine(Engine.Role.PREFILL, "http://127.0.0.1:8100", false));
    assertThat(engine("d")).isEqualTo(new Engine(Engine.Role.DECODE, "http://127.0.0.1:8200", false));
    prefill.drain().block(PATIENCE);
    assertThat(engine("p").isDraining()).isTrue();
    prefill.close().block(PATIENCE);
    assertThat(ranks.instance("p")).isEmpty();
    decode.close().block(PATIENCE);
  }
}
