package io.penstock.readme;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.wire.KvServer;
import io.penstock.wire.transfer.TransferEngine;
import io.penstock.wire.transfer.TransferState;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// The example of docs/transfers.md compiles and runs.
@Timeout(60)
final class TransferExampleTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  @Test
  void example_movesBytes() {
    LoopResources loops = LoopResources.create("example", 1, true);
    Scheduler timers = Schedulers.newSingle("timers", true);
    try (Arena memory = Arena.ofShared()) {
      TransferExample example = new TransferExample();
      KvServer node = requireNonNull(example.node(memory, loops, timers).block(PATIENCE));
      TransferEngine engine = example.engine(node, loops, timers);
      assertThat(requireNonNull(example.write(engine, memory).block(PATIENCE)).count(TransferState.COMPLETED))
          .isEqualTo(1);
      engine.close().block(PATIENCE);
      node.close().block(PATIENCE);
    } finally {
      timers.dispose();
      loops.dispose();
    }
  }

  @Test
  void page_showsTheExample() throws Exception {
    String source = Files.readString(Path.of("src/test/java/io/penstock/readme/TransferExample.java"));
    String shown = source.substring(source.indexOf("import "));
    assertThat(Files.readString(Path.of("docs/transfers.md"))).contains("```java\n" + shown + "```");
  }
}
