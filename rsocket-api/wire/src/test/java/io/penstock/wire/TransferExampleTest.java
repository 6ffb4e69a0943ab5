package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.tier.ByteBudget;
import io.penstock.wire.transfer.SegmentRegistry;
import io.penstock.wire.transfer.Transfer;
import io.penstock.wire.transfer.TransferBatch;
import io.penstock.wire.transfer.TransferEngine;
import io.penstock.wire.transfer.TransferOptions;
import io.penstock.wire.transfer.TransferState;
import io.penstock.wire.transport.TcpClientOptions;
import io.penstock.wire.transport.TcpListener;
import io.penstock.wire.transport.TcpServerOptions;
import io.penstock.wire.transport.TcpTransport;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// The example of the README compiles and runs.
@Timeout(60)
final class TransferExampleTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  @Test
  void example_movesBytes() {
    LoopResources loops = LoopResources.create("example", 1, true);
    Scheduler timers = Schedulers.newSingle("timers", true);
    try (Arena memory = Arena.ofShared()) {
      // example
      SegmentRegistry segments = new SegmentRegistry(System.nanoTime());
      segments.register("kv", memory.allocate(1 << 20));
      ByteBudget budget = new ByteBudget("transfers", 64 << 20, 1024);
      Mono<KvServer> serving = KvServer.bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops),
          NodeSpaces.none(), segments, KvServerOptions.defaults(), budget, timers, Schedulers.immediate());
      KvServer node = requireNonNull(serving.block(PATIENCE));
      int port = ((TcpListener) node.listening()).port();

      TransferEngine engine = new TransferEngine(TransferOptions.defaults(),
          new SegmentConnector(peer -> TcpTransport.client(TcpClientOptions.to(peer, port), loops),
              KvClientOptions.defaults(), budget),
          timers, new SecureRandom());
      MemorySegment local = memory.allocate(300_000);
      TransferBatch batch = TransferBatch.builder().write("127.0.0.1", "kv", 0, local).notifying("ready").build();
      Mono<Transfer.BatchResult> done = engine.submit(batch).done();
      // end
      assertThat(requireNonNull(done.block(PATIENCE)).count(TransferState.COMPLETED)).isEqualTo(1);
      engine.close().block(PATIENCE);
      node.close().block(PATIENCE);
    } finally {
      timers.dispose();
      loops.dispose();
    }
  }

  @Test
  void readme_showsTheExample() throws Exception {
    String source = Files.readString(Path.of("src/test/java/io/penstock/wire/TransferExampleTest.java"));
    List<String> lines = source.substring(source.indexOf("// example\n") + 11, source.indexOf("      // end\n")).lines()
        .map(line -> line.isBlank() ? "" : line.substring(6)).toList();
    assertThat(Files.readString(Path.of("README.md"))).contains("```java\n" + String.join("\n", lines) + "\n```");
  }
}
