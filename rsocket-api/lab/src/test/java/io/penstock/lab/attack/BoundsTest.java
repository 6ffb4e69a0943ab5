package io.penstock.lab.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockHash;
import io.penstock.block.CacheSpace;
import io.penstock.node.shape.BlockShape;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// What counts as broken, and how the time of a run is shared out.
final class BoundsTest {
  private static final NodeFigures QUIET = new NodeFigures(100, 0, 0, 1L, 0L, 1L << 30);

  private static Latency slowest(double millis) {
    return new Latency(1, millis, millis, millis);
  }

  @Test
  void slowest_isQuick_orNearTheQuietOne() {
    assertThat(new Bounds().slowest("put", slowest(50), slowest(1)).slowest("put", slowest(100), slowest(20)).broken())
        .isEmpty();
    assertThat(new Bounds().slowest("get", slowest(101), slowest(20)).broken())
        .containsExactly("slowest get must be <= 100.0 ms (was 101.0 ms)");
  }

  @Test
  void kept_isNineTenths() {
    assertThat(new Bounds().kept(100, 90).kept(0, 0).broken()).isEmpty();
    assertThat(new Bounds().kept(4096, 88).broken())
        .containsExactly("visible blocks must be >= 0.9 of those before (was 88 of 4,096)");
  }

  @Test
  void letGo_namesWhatIsHeld() {
    assertThat(new Bounds().letGo(QUIET, QUIET, 1).broken()).isEmpty();
    assertThat(new Bounds().letGo(new NodeFigures(0, 4096, 0, 3L, 1L, null), QUIET, 10).broken()).containsExactly(
        "node must hold as little as before 10 s after the attack (was 4.00 KiB in flight, 0 B beside visible blocks,"
            + " 1 streams, 3 connections)");
    assertThat(new Bounds().letGo(null, QUIET, 120).broken())
        .containsExactly("node must answer after the attack (was silent for 120 s)");
  }

  @Test
  void strangers_getNothing() {
    assertThat(new Bounds().strangers(Map.of()).broken()).isEmpty();
    assertThat(new Bounds().strangers(Map.of("a rank of another", 2L)).broken())
        .containsExactly("strangers must not get a rank of another (was 2 times)");
  }

  @Test
  void memory_hasTheBudgetAndAQuarterOfAGibibyte() {
    long most = (1L << 30) + (64 << 20) + (256 << 20);
    assertThat(new Bounds().memory(most, 1L << 30, 0, 64 << 20).memory(null, 1L, 0, 0)
        .memory(most + 1, 1L << 30, most + 1, 64 << 20).broken()).isEmpty();
    assertThat(new Bounds().memory(most + (64 << 20), 1L << 30, 0, 64 << 20).broken())
        .containsExactly("resident memory must be <= 1.31 GiB (was 1.38 GiB; 1.00 GiB when quiet)");
  }

  @Test
  void plan_playsEachKindOnce_thenMixes() {
    AttackPlan plan = AttackPlan.of(Duration.ofMinutes(10), List.of(AttackKind.values()));

    assertThat(plan.phase()).isEqualTo(Duration.ofSeconds(20));
    assertThat(plan.phases()).startsWith(AttackKind.values()).hasSize(29);
    assertThat(plan.phases().subList(AttackKind.values().length, 29)).containsOnly(AttackKind.MIX);
    assertThat(plan.total()).isEqualTo(Duration.ofMinutes(10));
  }

  @Test
  void gauges_readWhatANodeTells() {
    Gauges gauges = Gauges.of("""
        # TYPE penstock_wire_connections gauge
        penstock_wire_connections 3.0
        penstock_wire_streams 0.0
        process_resident_memory_bytes 1.234567168E9
        """);
    assertThat(gauges).isEqualTo(new Gauges(3L, 0L, 1_234_567_168L));
    assertThat(Gauges.of("")).isEqualTo(Gauges.UNKNOWN);
  }

  @Test
  void target_knowsKeys_andMakesOthers() {
    byte[] hashes = Target.colliding(3, new Random(1));
    assertThat(hashes).hasSize(48);
    assertThat(Arrays.copyOfRange(hashes, 4, 16)).isEqualTo(Arrays.copyOfRange(hashes, 20, 32));
    CacheSpace space = BlockShape.of(4 << 10, 4).space("attack");
    Target target = Target.of(space, 10, List.of(space.key(BlockHash.ROOT), space.key(new BlockHash(1, 2))));
    assertThat(target.timesCapacity(16, 1000)).isEqualTo(160);
    assertThat(target.timesCapacity(16, 100)).isEqualTo(100);
    assertThat(target.known(1)).isEqualTo(new byte[16]);
    assertThat(target.known(100)).hasSize(32);
  }
}
