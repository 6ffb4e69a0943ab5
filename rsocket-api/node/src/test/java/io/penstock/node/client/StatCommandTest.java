package io.penstock.node.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.cli.Console;
import io.penstock.node.link.NodeLink;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Medium;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierStat;
import io.penstock.wire.client.ServerStat;
import io.penstock.wire.client.SpaceStat;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

/// What `stat` says of a disk.
final class StatCommandTest {
  private static final TierStat.Level DRAM = new TierStat.Level("dram", Medium.HOST, 10, 1, 1, 0, 1);

  private static final List<ServerStat.Door> DOORS = List.of(new ServerStat.Door("resp", "127.0.0.1:6379", 3,
      Map.of("", Map.of("drops", 2L), "alice", Map.of("hits", 1L, "misses", 0L, "bytesOut", 4096L))));

  private static String stat(TierStat.Level... levels) {
    return stat(new TierStat(1, 10, 0, 0, 0, 0, 1, 0, 0, 1, List.of(levels)));
  }

  private static String stat(TierStat tier) {
    return run(tier, List.of());
  }

  private static String run(TierStat tier, List<SpaceStat> spaces, String... flags) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Console console = new Console(InputStream.nullInputStream(), new PrintStream(out, true, StandardCharsets.UTF_8),
        System.err, false, Map.of());
    NodeLink link = new NodeLink() {
      @Override
      public BlockTier tier() {
        throw new AssertionError("no block is asked for");
      }

      @Override
      public Mono<ServerStat> stat() {
        return Mono.just(new ServerStat("node", "stack", "HOST", tier, 0, 0, 1, 0L, false, spaces,
            ServerStat.Moved.NONE, Map.of("reader", 13_964L, "budget", 0L), DOORS));
      }

      @Override
      public void close() {}
    };
    assertThat(ClientCommands.lines(console, (address, config, patience) -> link).stream()
        .filter(line -> line.getCommandName().equals("stat")).findFirst().orElseThrow().execute(flags)).isZero();
    String text = out.toString(StandardCharsets.UTF_8);
    if (flags.length > 0) {
      return text;
    }
    assertThat(text.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
    return text.replaceAll("\n {5,}", " "); // as if nothing were wrapped
  }

  @Test
  void doors_areShownByUser() {
    assertThat(stat(DRAM)).containsPattern("door resp +127.0.0.1:6379, 3 connections\n")
        .containsPattern("door resp +clients without a name: 2 dropped\n")
        .containsPattern("door resp +user alice: (1 hit, 4.00 KiB out|4.00 KiB out, 1 hit)\n");
  }

  @Test
  void disk_tellsItsSyncsFilesAndDamage_andWhatFailed() {
    TierStat.Disk disk =
        new TierStat.Disk(3 << 20, 400, 12, 1, 4096, 5, 320 << 20, 200 << 20, 100 << 20, 4 << 20, 3, 2, 1 << 30,
            7, 6, 2, 3,
            List.of("sync: could not"));
    String text = stat(DRAM, new TierStat.Level("ssd", Medium.DISK, 100, 9, 9, 0, 9, StoreHealth.GOOD, null, disk));

    assertThat(text).containsPattern("disk syncs +12, 1 failed; 3.00 MiB unsynced for 400 ms, 4.00 KiB uncertain\n")
        .containsPattern(
            "disk files +5, 320 MiB, of which 200 MiB count; 3 emptied, each byte put is written 1.04 times\n")
        .containsPattern("disk opening +3 records damaged\n")
        .containsPattern("disk scrub +2 passes, 1.00 GiB read\n")
        .containsPattern(
            "disk damage +4 blocks damaged since, 6 unreadable; of all that was damaged, 2 not kept aside\n")
        .containsPattern("disk problem +sync: could not\n");
  }

  /// The ledger has every block of a write-through node on its fastest level: the disk has them all the same.
  @Test
  void diskThatIsWrittenThrough_countsItsCopies() {
    assertThat(stat(DRAM, new TierStat.Level("ssd", Medium.DISK, 300, 0, 100, 0, 100)))
        .containsPattern("level dram +1 of 10 blocks; none of them in a faster level too, 0 hits\n")
        .containsPattern("level ssd +100 of 300 blocks; 100 of them in a faster level too, 0 hits\n");
  }

  @Test
  void levels_areThoseOfEachSpace() {
    TierStat wide = new TierStat(1, 110, 0, 0, 0, 0, 1, 0, 0, 1,
        List.of(DRAM, new TierStat.Level("ssd", Medium.DISK, 100, 0, 0, 0, 0)));
    TierStat narrow = new TierStat(7, 20, 0, 0, 0, 0, 7, 0, 0, 7,
        List.of(new TierStat.Level("dram", Medium.HOST, 20, 7, 7, 3, 7)));
    List<SpaceStat> spaces = List.of(new SpaceStat("wide", "HOST", "0a", "model-w", 64, wide),
        new SpaceStat("narrow", "HOST", "0b", "model-n", 32, narrow));
    assertThat(run(wide, spaces))
        .containsPattern("\nspace wide +model-w; .*\nlevel dram of wide +1 of 10 blocks that it may have now; .*"
            + "\nlevel ssd of wide +0 of 100 blocks; .*\nspace narrow +model-n; .*"
            + "\nlevel dram of narrow +7 of 20 blocks that it may have now; ")
        .doesNotContainPattern("level dram +[0-9]");
    var json = JsonMapper.shared().readTree(run(wide, spaces, "--json")).get("spaces");
    assertThat(json.at("/0/stat/levels")).extracting(level -> level.get("name").asString())
        .containsExactly("dram", "ssd");
    assertThat(json.at("/1/stat/levels/0/blocks").asLong()).isEqualTo(7);
    assertThat(json.at("/1/stat/levels/0/medium").asString()).isEqualTo("host");
  }

  @Test
  void diskLeasesAndPins_areThoseOfEachSpace_withoutThoseThatDidNothing() {
    TierStat.Disk busy = new TierStat.Disk(0, 0, 12, 0, 0, 5, 320 << 20, 200 << 20, 100 << 20, 0, 3, 0, 0, 0, 0, 0, 0,
        List.of());
    TierStat.Disk broken = new TierStat.Disk(0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 1,
        List.of("sync: could not"));
    List<SpaceStat> spaces = List.of(withDisk("busy", busy, new TierStat.Holds(2, 3, 50, 0, 0, 50, 0, 0, 0, 0)),
        withDisk("broken", broken, TierStat.Holds.NONE), withDisk("idle", TierStat.Disk.NONE, TierStat.Holds.NONE));

    assertThat(run(spaces.getFirst().stat(), spaces)).containsPattern("\nblocks +1 of at most 110\n")
        .containsPattern("\nspace busy +model; 1 block of at most 110, each 64 B; ")
        .containsPattern("\nread leases of busy +2, 3 blocks of 50 that leases may hold\n")
        .containsPattern("\ndisk syncs of busy +12, 0 failed; ")
        .containsPattern("\ndisk files of busy +5, 320 MiB, ")
        .containsPattern("\ndisk queue of busy +0 blocks, 0 B; most 7 of 9, ")
        .containsPattern("\nabove watermark of busy +4 blocks\n")
        .containsPattern("\ndisk syncs of broken +0, 3 failed; ")
        .containsPattern("\ndisk opening of broken +1 record damaged\n")
        .containsPattern("\ndisk damage of broken +1 block damaged since, ")
        .containsPattern("\ndisk problem of broken +sync: could not\n")
        .doesNotContainPattern("of idle +[0-9]+(,| pass)").doesNotContain("read leases of broken");
  }

  private static SpaceStat withDisk(String name, TierStat.Disk disk, TierStat.Holds holds) {
    boolean isBusy = disk.segments() > 0;
    TierStat.Tiering queue = new TierStat.Tiering(0, 0, isBusy ? 7 : 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, isBusy ? 4 : 0);
    return new SpaceStat(name, "HOST", "0c", "model", 64, new TierStat(1, 110, 0, 0, 0, 0, 1, 0, 0, 1,
        List.of(DRAM, new TierStat.Level("ssd", Medium.DISK, 100, 0, 0, 0, 0, StoreHealth.GOOD, null, disk)), queue,
        List.of(), holds));
  }

  @Test
  void waits_areToldByCulprit_withoutThoseOfNoTime() {
    assertThat(stat(DRAM))
        .containsPattern("\nwaited +13,964 ms for readers that gave no credit, or did not take their bytes\n")
        .doesNotContain("for the budget");
  }

  @Test
  void bytesLentBesidesTheBlocks_areTold_wherever() {
    TierStat tier = new TierStat(12_031, 20_000, 10 << 20, 12 << 20, 0, 0, 1, 0, 0, 1_234_567, List.of());

    assertThat(stat(tier)).containsPattern(
        "\nblocks +12,031 of 20,000\nbytes +10.0 MiB\nbytes besides +2.00 MiB: being written, moved between levels, "
            + "or evicted and still read\n")
        .containsPattern("\nlast event +1234567\n");
  }

  @Test
  void countsOfNothing_areLeftOut() {
    assertThat(stat(DRAM)).containsPattern("\nhits +0\n").doesNotContain("corrupt", "carried");
    assertThat(stat(new TierStat.Level("ssd", Medium.DISK, 100, 9, 9, 0, 9, StoreHealth.GOOD, null,
        TierStat.Disk.NONE))).contains("disk files")
        .doesNotContain("disk opening", "disk scrub", "disk damage", "prefetched", "stayed on disk", "above watermark");
  }

  @Test
  void nodeWithoutDisk_saysNothingOfOne() {
    assertThat(stat(DRAM)).doesNotContain("disk");
  }
}
