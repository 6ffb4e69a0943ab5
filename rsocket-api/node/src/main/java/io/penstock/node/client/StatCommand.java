package io.penstock.node.client;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.link.Answers;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeLink;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import io.penstock.tier.Medium;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierStat;
import io.penstock.wire.client.ServerStat;
import io.penstock.wire.client.SpaceStat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

/// Shows the content and the work of a node.
@Command(
    name = "stat",
    description = {"Shows what a node holds and what it has done.", "",
      "A node of several spaces has a row for each, and rows for its levels, leases, pins and disk. They share the"
          + " memory: a space may have as many blocks as all memory and its own disk hold, and its level in memory has"
          + " now what the other spaces leave it. The options of a space choose the space that the rows without a name"
          + " are of; without them it is the first without a salt. Rows of which all counts are 0 are left out, but for"
          + " those of blocks, hits and misses; --json has all.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock stat --connect 127.0.0.1:7733 --json", ""})
final class StatCommand extends ClientCommand {
  StatCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  boolean isOfOneNode() {
    return true;
  }

  @Override
  boolean needsSpace(NodeConfig config) {
    return ClientCommand.SPACE.stream().anyMatch(config::states);
  }

  @Override
  Work work(NodeConfig config) {
    return this::show;
  }

  private int show(NodeLink node) {
    ServerStat stat = Answers.of(node.stat(), patience());
    if (isJson()) {
      console.json(lowerCase(stat));
    } else {
      console.out().print(table(stat).wrapped());
    }
    return ExitCode.OK;
  }

  /// Copy with the names of media in lower case, as everywhere here.
  private static ServerStat lowerCase(ServerStat stat) {
    return new ServerStat(stat.node(), stat.tier(), stat.medium().toLowerCase(Locale.ROOT), stat.stat(),
        stat.inFlightBytes(), stat.peakInFlightBytes(), stat.budgetBytes(), stat.outgoingBytes(), stat.draining(),
        stat.spaces().stream().map(space -> new SpaceStat(space.tier(), space.medium().toLowerCase(Locale.ROOT),
            space.space(), space.model(), space.blockBytes(), space.stat())).toList(),
        stat.carried(), stat.waitedMillis(), stat.doors());
  }

  private static TextTable table(ServerStat node) {
    TierStat tier = node.stat();
    TextTable table = new TextTable("WHAT", "VALUE")
        .row("node", node.node() + (node.draining() ? " (draining)" : ""))
        .row("tier", node.tier() + ", " + node.medium().toLowerCase(Locale.ROOT) + among(node.spaces().size()))
        .row("blocks", Numbers.of(tier.blocks()) + of(node.spaces().size() > 1) + capacity(tier.capacityBlocks()))
        .row("bytes", Sizes.human(tier.bytes()))
        .row("bytes besides",
            Sizes.human(Math.max(0, tier.claimedBytes() - tier.bytes()))
                + ": being written, moved between levels, or evicted and still read")
        .row("hits", tier.hits())
        .row("misses", tier.misses())
        .row("hit rate", rate(tier.hits(), tier.misses()))
        .row("stored", tier.stored())
        .row("evicted", tier.evicted());
    if (tier.corrupt() > 0) {
      table.row("corrupt", tier.corrupt());
    }
    table
        .row("last event", String.valueOf(tier.lastSequence()))
        .row("in flight", Sizes.human(node.inFlightBytes()) + outgoing(node.outgoingBytes()))
        .row("at peak", Sizes.human(node.peakInFlightBytes()) + " of " + Sizes.human(node.budgetBytes()));
    carried(table, "carried in", node.carried().in());
    carried(table, "carried out", node.carried().out());
    node.waitedMillis().forEach((culprit, millis) -> waited(table, culprit, millis));
    node.doors().forEach(door -> withDoor(table, door));
    if (node.spaces().size() > 1) {
      node.spaces().forEach(space -> withSpace(table, space));
    }
    List<Part> parts = node.spaces().size() > 1
        ? node.spaces().stream().map(space -> new Part(" of " + space.tier(), space.stat())).toList()
        : List.of(new Part("", tier));
    parts.forEach(part -> withHolds(table, part));
    if (node.spaces().size() <= 1) {
      tier.levels().forEach(level -> table.row("level " + level.name(), level(level, "")));
    }
    tier.memory().forEach(memory -> table.row("memory", memory(memory)));
    parts.forEach(part -> {
      part.stat.levels().stream().map(TierStat.Level::disk).filter(Objects::nonNull)
          .forEach(disk -> withDisk(table, disk, part));
      if (part.stat.levels().stream().anyMatch(level -> level.medium() == Medium.DISK)) {
        withTiering(table, part);
      }
    });
    return table;
  }

  /// A space with rows of its own, or all of a node with one space.
  ///
  /// @param of behind the names of its rows
  private record Part(String of, TierStat stat) {
    boolean isAll() {
      return of.isEmpty();
    }
  }

  private static String of(boolean isShared) {
    return isShared ? " of at most " : " of ";
  }

  private static void withDoor(TextTable table, ServerStat.Door door) {
    table.row("door " + door.door(), door.address() + ", " + Plural.of(door.connections(), "connection"));
    door.users().forEach((user, counts) -> {
      StringJoiner text = new StringJoiner(", ");
      text.setEmptyValue("nothing yet");
      counts.forEach((name, count) -> {
        if (count > 0) {
          text.add(switch (name) {
            case "hits" -> Plural.of(count, "hit");
            case "misses" -> Plural.of(count, "miss", "misses");
            case "finds" -> Plural.of(count, "question");
            case "writes" -> Numbers.of(count) + " stored";
            case "drops" -> Numbers.of(count) + " dropped";
            case "refusals" -> Numbers.of(count) + " refused";
            case "damages" -> Numbers.of(count) + " damaged";
            case "aborts" -> Numbers.of(count) + " cut off";
            case "bytesIn" -> Sizes.human(count) + " in";
            case "bytesOut" -> Sizes.human(count) + " out";
            default -> Numbers.of(count) + " " + name;
          });
        }
      });
      table.row("door " + door.door(), (user.isEmpty() ? "clients without a name: " : "user " + user + ": ") + text);
    });
  }

  private static void carried(TextTable table, String what, Map<String, Long> bytes) {
    bytes.forEach((carrier, count) -> {
      if (count > 0) {
        table.row(what, Sizes.human(count) + " by " + carrier);
      }
    });
  }

  private static void waited(TextTable table, String culprit, long millis) {
    if (millis > 0) {
      table.row("waited", "%s ms for %s".formatted(Numbers.of(millis), switch (culprit) {
        case "reader" -> "readers that gave no credit, or did not take their bytes";
        case "writer" -> "writers that did not send";
        case "budget" -> "the budget, which other clients held";
        case "rate" -> "the rate of the connection";
        case "slots" -> "slots of memory";
        case "tier" -> "a slower level, or the writer of a block";
        default -> culprit;
      }));
    }
  }

  private static String among(int spaces) {
    return spaces > 1 ? ", one of " + spaces + " spaces: blocks to last event are its own" : "";
  }

  private static void withSpace(TextTable table, SpaceStat space) {
    table.row("space " + space.tier(), space(space));
    space.stat().levels()
        .forEach(level -> table.row("level %s of %s".formatted(level.name(), space.tier()),
            level(level, level.medium() == Medium.HOST ? " that it may have now" : "")));
  }

  private static String space(SpaceStat space) {
    TierStat stat = space.stat();
    return "%s; %s%s%s, each %s; hit rate %s".formatted(space.model(), Plural.of(stat.blocks(), "block"), of(true),
        capacity(stat.capacityBlocks()), Sizes.human(space.blockBytes()), rate(stat.hits(), stat.misses()));
  }

  private static String outgoing(@Nullable Long bytes) {
    return bytes == null ? "" : ", of which " + Sizes.human(bytes) + " on the way out";
  }

  private static void withHolds(TextTable table, Part part) {
    TierStat.Holds holds = part.stat.holds();
    if (holds.leases() + holds.leasedBlocks() > 0) {
      table.row("read leases" + part.of,
          "%s, %s of %s that leases may hold".formatted(Numbers.of(holds.leases()),
              Plural.of(holds.leasedBlocks(), "block"), capacity(holds.mostLeasedBlocks())));
    }
    if (holds.softPinned() + holds.hardPinned() > 0) {
      table.row("pinned" + part.of,
          "%s softly, %s hard, of %s".formatted(Plural.of(holds.softPinned(), "block"),
              Numbers.of(holds.hardPinned()), capacity(holds.mostPinned())));
    }
    if (holds.leased() + holds.softPassed() + holds.hardPassed() + holds.inUse() > 0) {
      table.row("passed over" + part.of, "%s leased, %s soft-pinned, %s hard-pinned, %s in use".formatted(
          Numbers.of(holds.leased()), Numbers.of(holds.softPassed()), Numbers.of(holds.hardPassed()),
          Numbers.of(holds.inUse())));
    }
  }

  private static void withDisk(TextTable table, TierStat.Disk disk, Part part) {
    String of = part.of;
    if (part.isAll() || disk.syncs() + disk.failedSyncs() + disk.unsyncedBytes() + disk.uncertainBytes() > 0) {
      table.row("disk syncs" + of,
          "%s, %s failed; %s unsynced for %s ms, %s uncertain".formatted(Numbers.of(disk.syncs()),
              Numbers.of(disk.failedSyncs()), Sizes.human(disk.unsyncedBytes()), Numbers.of(disk.unsyncedMillis()),
              Sizes.human(disk.uncertainBytes())));
    }
    if (part.isAll() || disk.segments() + disk.reclaimed() > 0) {
      table.row("disk files" + of,
          "%s, %s, of which %s count; %s emptied, each byte put is written %.2f times".formatted(
              Numbers.of(disk.segments()), Sizes.human(disk.heldBytes()), Sizes.human(disk.liveBytes()),
              Numbers.of(disk.reclaimed()), disk.writeAmplification()));
    }
    if (disk.damagedAtOpening() > 0) {
      table.row("disk opening" + of, Plural.of(disk.damagedAtOpening(), "record") + " damaged");
    }
    if (disk.scrubPasses() + disk.scrubbedBytes() > 0) {
      table.row("disk scrub" + of,
          "%s, %s read".formatted(Plural.of(disk.scrubPasses(), "pass", "passes"), Sizes.human(disk.scrubbedBytes())));
    }
    if (disk.damaged() + disk.unreadable() + disk.unkept() > 0) {
      table.row("disk damage" + of,
          "%s damaged since, %s unreadable; of all that was damaged, %s not kept aside".formatted(
              Plural.of(disk.damaged() - disk.damagedAtOpening(), "block"), Numbers.of(disk.unreadable()),
              Numbers.of(disk.unkept())));
    }
    disk.problems().forEach(problem -> table.row("disk problem" + of, problem));
  }

  private static void withTiering(TextTable table, Part part) {
    TierStat.Tiering tiering = part.stat.tiering();
    if (part.isAll() || tiering.mostQueuedBlocks() + tiering.withheld() > 0) {
      table.row("disk queue" + part.of,
          "%s, %s; most %s of %s, longest wait %s ms, %s waited".formatted(Plural.of(tiering.queuedBlocks(), "block"),
              Sizes.human(tiering.queuedBytes()), Numbers.of(tiering.mostQueuedBlocks()),
              capacity(tiering.queueBlocks()), Numbers.of(tiering.longestMillis()),
              Plural.of(tiering.withheld(), "writer")));
    }
    if (tiering.prefetched() > 0) {
      table.row("prefetched" + part.of,
          "%s, %s useful, %s wasted".formatted(Plural.of(tiering.prefetched(), "block"), Numbers.of(tiering.useful()),
              Numbers.of(tiering.wasted())));
    }
    counted(table, "stayed on disk" + part.of, tiering.held(), "hit");
    counted(table, "evicted for room" + part.of, tiering.evictedForRoom(), "block");
    counted(table, "above watermark" + part.of, tiering.aboveWatermark(), "block");
  }

  private static void counted(TextTable table, String what, long count, String noun) {
    if (count > 0) {
      table.row(what, Plural.of(count, noun));
    }
  }

  /// Blocks whose bytes are there, also those that a faster level repeats, such as all blocks of a disk that is
  /// written through; and the blocks of which the ledger has no faster copy.
  ///
  /// @param more behind the number of blocks that the level may have
  private static String level(TierStat.Level level, String more) {
    long repeated = level.storedBlocks() - level.blocks();
    return "%s of %s blocks%s; %s, %s%s".formatted(Numbers.of(level.storedBlocks()), capacity(level.capacityBlocks()),
        more,
        repeated <= 0 ? "none of them in a faster level too" : Numbers.of(repeated) + " of them in a faster level too",
        Plural.of(level.hits(), "hit"), state(level.health()));
  }

  private static String memory(TierStat.Memory memory) {
    return "%s: %s; %s, %s".formatted(Sizes.human(memory.bytes()), memory.pages(),
        memory.node() == null ? "on any node" : "on node " + memory.node(),
        memory.locked() ? "locked" : "not locked");
  }

  private static String state(StoreHealth health) {
    return health.state() == StoreHealth.State.ACTIVE ? "" : ", " + health.words();
  }

  private static String capacity(long blocks) {
    return blocks == Long.MAX_VALUE ? "unbounded" : Numbers.of(blocks);
  }

  private static String rate(long hits, long misses) {
    return hits + misses == 0
        ? "no lookups yet"
        : String.format(Locale.ROOT, "%.2f %%", 100.0 * hits / (hits + misses));
  }
}
