package io.penstock.node.serve;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.flow.StoredValue;
import io.penstock.flow.ValueStore;
import io.penstock.node.config.NodeConfig;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.RemoteTier;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/// Values on a disk, after the node was stopped, and after it was ended by SIGKILL while it replaced one.
@Timeout(600)
final class ValueRestartTest {
  private static final Duration SOON = Duration.ofMinutes(1);
  private static final int MIB = 1 << 20;
  private static final int PIECE = 128 << 10;
  private static final CacheSpace SPACE = ValueStore.space("values", 256 << 10, "");
  /// More than host memory: what was put before is on the disk then.
  private static final int FILLER_BYTES = 6 * MIB;

  @TempDir
  private Path folder;

  private final LoopResources loops = LoopResources.create("values", 1, true);

  @AfterEach
  void end() {
    loops.disposeLater(Duration.ZERO, SOON).block(SOON);
  }

  private Path config(String engine) throws IOException {
    return Files.writeString(folder.resolve("node.yaml"), """
        listen.port: 0
        admin.port: off
        dram: 4MiB
        reserve.blocks: 16
        window.blocks: 8
        ssd: 256MiB
        ssd.engine: %s
        ssd.segment.bytes: 4MiB
        ssd.dir: %s
        spaces:
          values: {model: values, value.part.bytes: 256KiB}
        """.formatted(engine, folder.resolve("ssd")));
  }

  /// A client of the values of one node.
  private final class Values implements AutoCloseable {
    private final SlabArena arena = new SlabArena("values", SPACE.layout(), 64, 8);
    private final KvClient client;
    private final ValueStore store;

    Values(int port) {
      client = requireNonNull(KvClient.connect(TcpTransport.client(TcpClientOptions.to("127.0.0.1", port), loops),
          KvClientOptions.builder().windowBlocks(8).build(), SPACE, arena, new ByteBudget("values", 16L * MIB, 64))
          .block(SOON));
      store = new ValueStore(new RemoteTier(client, SPACE));
    }

    Mono<StoredValue> replace(String name, byte[] bytes, Runnable afterPiece, int piece) {
      int pieces = Math.ceilDiv(bytes.length, PIECE);
      return store.replace(name, bytes.length, Flux.range(0, pieces).map(i -> {
        if (i == piece) {
          afterPiece.run();
        }
        return MemorySegment.ofArray(bytes).asSlice((long) i * PIECE, Math.min(PIECE, bytes.length - i * PIECE));
      }), null, null);
    }

    void replace(String name, byte[] bytes) {
      assertThat(replace(name, bytes, () -> {}, -1).block(SOON)).isNotNull();
    }

    /// Puts other values, so that those of before leave host memory.
    void fill(long seed) {
      for (int i = 0; i < FILLER_BYTES / MIB; i++) {
        replace("filler-" + i, bytes(MIB, seed + i));
      }
    }

    Optional<byte[]> get(String name) {
      try (BlockScope scope = new BlockScope()) {
        return store.get(name, scope).blockOptional(SOON).map(value -> {
          ByteArrayOutputStream read = new ByteArrayOutputStream();
          value.parts().doOnNext(part -> {
            try (part) {
              read.writeBytes(part.<byte[]>read(memory -> memory.toArray(ValueLayout.JAVA_BYTE)));
            }
          }).blockLast(SOON);
          return read.toByteArray();
        });
      }
    }

    @Override
    public void close() {
      client.close().block(SOON);
      arena.close();
    }
  }

  private static byte[] bytes(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  @Test
  void aValueOf4MiB_isReadBack_afterARestart() throws IOException {
    isReadBackAfterARestart("plain", 4 * MIB + 5);
  }

  @Tag("proof")
  @ParameterizedTest
  @ValueSource(strings = {"chronicle", "plain"})
  void aValueOf64MiB_isReadBack_afterARestart(String engine) throws IOException {
    isReadBackAfterARestart(engine, 64 * MIB);
  }

  private void isReadBackAfterARestart(String engine, int length) throws IOException {
    NodeConfig config = NodeConfig.resolve(config(engine), Map.of(), Map.of());
    byte[] value = bytes(length, 1);
    Node node = requireNonNull(Node.start(config).block(SOON));
    try (Values values = new Values(node.port())) {
      values.replace("checkpoint", value);
      assertThat(values.get("checkpoint")).as("before").hasValueSatisfying(read -> same(read, value));
      values.fill(100);
    } finally {
      assertThat(node.drain().block(SOON)).isTrue();
    }
    Node again = requireNonNull(Node.start(config).block(SOON));
    try (Values values = new Values(again.port())) {
      assertThat(values.get("checkpoint")).as("after the restart").hasValueSatisfying(read -> same(read, value));
    } finally {
      assertThat(again.drain().block(SOON)).isTrue();
    }
  }

  @Test
  void aReplacementThatIsKilledBeforeItsEnd_leavesTheOldValueWhole() throws Exception {
    Random random = new Random(3);
    killOverAndOver(1, random, 8 + random.nextInt(8));
  }

  @Tag("proof")
  @Test
  void replacementsThatAreKilled_leaveTheOldOrTheNewValue_orNeither() throws Exception {
    killOverAndOver(12, new Random(4), -1);
  }

  /// @param piece of the new value at which the node is killed; −1 for a random one, or a moment after the last
  private void killOverAndOver(int cycles, Random random, int piece) throws Exception {
    int pieces = 2 * MIB / PIECE;
    byte[] old = {};
    byte[] renewed = {};
    boolean isOldSure = false;
    String config = config("plain").toString();
    for (int cycle = 0; cycle <= cycles; cycle++) {
      try (NodeProcess node = NodeProcess.start(folder, "--config", config); Values values = new Values(node.port())) {
        if (cycle > 0) {
          requireOneOf(values.get("k"), old, renewed, isOldSure, "after cycle " + cycle);
        }
        if (cycle == cycles) {
          node.terminate();
          assertThat(node.exitCode()).isZero();
          return;
        }
        old = bytes(3 * MIB + cycle, 10 + cycle);
        renewed = bytes(2 * MIB, 1_000 + cycle);
        values.replace("k", old);
        values.fill(10_000L * cycle);
        int last = piece < 0 ? random.nextInt(2 * pieces) : piece;
        isOldSure = last < pieces;
        long micros = random.nextInt(5_000);
        values.replace("k", renewed, node::kill, last).onErrorComplete().block(SOON);
        spin(Duration.ofNanos(1_000 * micros));
        node.kill();
        assertThat(node.exitCode()).isEqualTo(128 + 9);
      }
    }
  }

  private static void requireOneOf(Optional<byte[]> found, byte[] old, byte[] renewed, boolean isOldSure,
      String when) {
    if (isOldSure) {
      assertThat(found).as("%s: the old value", when).hasValueSatisfying(read -> same(read, old));
    } else {
      found.ifPresent(read -> assertThat(Arrays.equals(read, old) || Arrays.equals(read, renewed))
          .as("%s: all of the old or all of the new value", when).isTrue());
    }
  }

  private static void same(byte[] read, byte[] expected) {
    assertThat(Arrays.mismatch(read, expected)).as("first byte that differs").isEqualTo(-1);
  }

  private static void spin(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }
}
