package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.tier.Receipt;
import io.penstock.tier.Receipt.Durability;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

/// A node with a disk is ended by SIGKILL in the middle of its appends, over and over: whatever it gave a receipt for
/// that says `written` is there afterwards, whatever else is there is whole, and no byte is wrong.
@Timeout(900)
final class ServeKillTest {
  private static final int BLOCKS_A_PUT = 24;
  private static final int PUTS_AT_A_TIME = 4;
  private static final int MOST_MICROS_MORE = 20_000;

  @TempDir
  private Path folder;

  private final List<BlockKey> tried = new ArrayList<>();
  private final List<BlockKey> promised = new ArrayList<>();

  /// With the other engine, `LoadCheckTest` shows it in each build.
  @Test
  void killed_keepsWhatItPromised() throws Exception {
    killOverAndOver("plain", 1, 300);
  }

  @Tag("proof")
  @ParameterizedTest
  @ValueSource(strings = {"chronicle", "plain"})
  void killedTwentyTimes_keepsWhatItPromised(String engine) throws Exception {
    killOverAndOver(engine, 20, 1_500);
  }

  private void killOverAndOver(String engine, int cycles, int mostReceipts) throws Exception {
    for (int cycle = 0; cycle < cycles; cycle++) {
      try (NodeProcess node = start(engine)) {
        requireKept(node, "%s, before cycle %d".formatted(engine, cycle));
        putUntilKilled(node, new Random(cycle), mostReceipts);
      }
    }
    try (NodeProcess node = start(engine)) {
      requireKept(node, engine + ", after all cycles");
      node.terminate();
      assertThat(node.exitCode()).isZero();
    }
  }

  /// More levels than fit one put, and segments that are rolled every few puts.
  private NodeProcess start(String engine) throws IOException {
    List<String> flags = new ArrayList<>(PatternClient.SHAPE);
    flags.addAll(List.of("--hbm", "8 blocks", "--dram", "16 blocks", "--ssd", "100000 blocks", "--ssd-dir",
        folder.resolve("ssd").toString(),
        "--ssd-engine", engine, "--ssd-segment-bytes", "1MiB", "--stack-mode", "write_through", "--window-blocks",
        "32"));
    return NodeProcess.start(Files.createDirectories(folder.resolve("said")), flags.toArray(String[]::new));
  }

  private void requireKept(NodeProcess node, String when) {
    try (PatternClient client = new PatternClient(node)) {
      Set<BlockKey> whole = client.read(tried);
      assertThat(whole).as("%s: blocks promised", when).containsAll(promised);
      promised.clear();
      promised.addAll(whole); // found and read: written, though its receipt may not have come
    }
  }

  private void putUntilKilled(NodeProcess node, Random random, int mostReceipts) throws Exception {
    int receiptsBefore = 1 + random.nextInt(mostReceipts);
    long microsMore = random.nextInt(MOST_MICROS_MORE);
    long firstId = tried.size();
    AtomicInteger puts = new AtomicInteger();
    Queue<Receipt> receipts = new ConcurrentLinkedQueue<>();
    CompletableFuture<Void> enough = new CompletableFuture<>();
    try (PatternClient client = new PatternClient(node)) {
      CompletableFuture<Throwable> end = Flux.<List<BlockKey>>generate(sink -> {
        long from = firstId + (long) puts.getAndIncrement() * BLOCKS_A_PUT;
        sink.next(PatternClient.keys(from, from + BLOCKS_A_PUT));
      }).flatMap(client::put, PUTS_AT_A_TIME).doOnNext(receipts::add).doOnNext(receipt -> {
        if (receipts.size() >= receiptsBefore) {
          enough.complete(null);
        }
      }).doOnError(enough::completeExceptionally).then().toFuture().handle((nothing, failure) -> failure);
      enough.get(60, TimeUnit.SECONDS);
      spin(Duration.ofNanos(microsMore * 1_000));
      node.kill();

      assertThat(end.get(60, TimeUnit.SECONDS)).as("what the writer is told")
          .isInstanceOf(ConnectionLostException.class);
      assertThat(node.exitCode()).isEqualTo(128 + 9);
    }
    tried.addAll(PatternClient.keys(firstId, firstId + (long) puts.get() * BLOCKS_A_PUT));
    assertThat(receipts).as("receipts").hasSizeGreaterThanOrEqualTo(receiptsBefore)
        .allSatisfy(receipt -> assertThat(receipt.durability()).isEqualTo(Durability.WRITTEN));
    receipts.forEach(receipt -> promised.add(receipt.key()));
  }

  /// So long that the end comes at any step of an append; too short for a timer.
  private static void spin(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }
}
