package io.penstock.node.cluster.quota;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.KeyOutcome;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierStat;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.SharedTable;
import io.penstock.wire.cluster.SpaceQuota;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Keeps spaces within their quotas over all members of a cluster. Each second this member tells how many bytes of such
/// a space it has, if that has changed. Where all members together have more than the quota, each removes its part of
/// what is too much: its oldest blocks, but none that is pinned hard or leased. So the sum exceeds a quota by no more
/// than what is written between two tellings, and what is pinned or leased. Safe from any thread.
public final class ClusterQuotas implements Disposable {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterQuotas.class);
  private static final Duration TELLING = Duration.ofSeconds(1);
  /// Looks after which an unchanged number is told again: a split may have lost it.
  private static final int TOLD_AGAIN = 10;
  private static final int BATCH = 256;
  /// Blocks that one look examines at most: those that are kept come again at the next one.
  private static final int MOST_EXAMINED = 1 << 16;

  private final Self self;
  private final Supplier<List<Member>> members;
  private final SharedTable table;
  private final Scheduler work;
  private final Disposable.Swap looks = Disposables.swap();
  private final List<Kept> spaces;
  @GuardedBy("this") private long number;

  /// A space with a quota.
  ///
  /// @param own its blocks at this member
  /// @param name of it
  /// @param quotaBytes most bytes at all members
  public record Limited(BlockTier own, String name, long quotaBytes) {}

  /// This member.
  public record Self(String node, long generation) {}

  /// A space while it is kept within its quota.
  private static final class Kept {
    final Limited space;
    final OldestBlocks oldest;
    final TierHolds holds;
    long toldBytes = -1;
    long looks;

    Kept(Limited space, Object party) {
      this.space = space;
      this.oldest = new OldestBlocks(space.own());
      this.holds = space.own().holds(party);
    }

    SpaceId id() {
      return space.own().info().space().id();
    }

    long blockBytes() {
      return space.own().info().space().layout().blockBytes();
    }
  }

  /// @param members that are there now
  /// @param table in which members tell
  /// @param work runs the looks
  public ClusterQuotas(Self self, List<Limited> spaces, Supplier<List<Member>> members, SharedTable table,
      Scheduler work) {
    this.self = requireNonNull(self, "self");
    this.members = requireNonNull(members, "members");
    this.table = requireNonNull(table, "table");
    this.work = requireNonNull(work, "work");
    this.spaces = spaces.stream().map(space -> new Kept(space, this)).toList();
  }

  /// Looks each second, until this is disposed.
  public void begin() {
    forgetEarlier();
    looks.update(Flux.interval(Duration.ZERO, TELLING, work).onBackpressureDrop()
        .concatMap(tick -> Flux.fromIterable(spaces).concatMap(this::look, 1).then(), 1).subscribe());
  }

  private Mono<Void> look(Kept kept) {
    return kept.space.own().stat().map(TierStat::bytes).flatMap(bytes -> {
      tell(kept, bytes);
      long total = bytes + elsewhere(kept.id());
      long excess = total - kept.space.quotaBytes();
      if (excess <= 0 || bytes == 0) {
        return Mono.<Void>empty();
      }
      long mine = (long) Math.ceil((double) excess * bytes / total / kept.blockBytes());
      return remove(kept, mine).flatMap(removed -> removed == 0
          ? Mono.<Void>empty()
          : kept.space.own().stat().doOnNext(stat -> tell(kept, stat.bytes())).then());
    }).onErrorResume(failure -> {
      LOG.debug("space {} cannot be kept within its quota now", kept.space.name(), failure);
      return Mono.empty();
    });
  }

  private void tell(Kept kept, long bytes) {
    SpaceTelling telling;
    synchronized (this) {
      if (kept.toldBytes == bytes && ++kept.looks % TOLD_AGAIN != 0) {
        return;
      }
      kept.toldBytes = bytes;
      telling = new SpaceTelling(self.node, self.generation, ++number, kept.space.name(), bytes,
          kept.space.quotaBytes());
    }
    table.put(name(kept.id(), self), telling.write());
  }

  private static String name(SpaceId space, Self member) {
    return "%s/%d/%s".formatted(space, member.generation, member.node);
  }

  /// Removes what earlier starts of this member told.
  private void forgetEarlier() {
    table.values().forEach((name, value) -> {
      try {
        SpaceTelling telling = SpaceTelling.read(value);
        if (telling.node().equals(self.node) && telling.generation() != self.generation) {
          table.remove(name, value);
        }
      } catch (IOException e) {
        table.remove(name, value);
      }
    });
  }

  /// What living members told last, by the space.
  private Map<String, List<SpaceTelling>> told() {
    Map<String, Long> living = new HashMap<>();
    members.get().forEach(member -> living.put(member.name(), member.generation()));
    Map<String, List<SpaceTelling>> told = new TreeMap<>();
    table.values().forEach((name, value) -> {
      try {
        SpaceTelling telling = SpaceTelling.read(value);
        if (Long.valueOf(telling.generation()).equals(living.get(telling.node()))) {
          told.computeIfAbsent(name.substring(0, name.indexOf('/')), none -> new ArrayList<>()).add(telling);
        }
      } catch (IOException e) {
        LOG.debug("a member tells what is no use of a space", e);
      }
    });
    return told;
  }

  private long elsewhere(SpaceId space) {
    return told().getOrDefault(space.toString(), List.of()).stream()
        .filter(telling -> !telling.node().equals(self.node)).mapToLong(SpaceTelling::bytes).sum();
  }

  /// Removes the oldest blocks, a few at a time.
  ///
  /// @param most number of them
  /// @return how many were removed
  private Mono<Long> remove(Kept kept, long most) {
    return Mono.defer(() -> {
      Removal removal = new Removal(kept, most);
      return Mono.defer(removal::step).repeat(removal::goesOn).then(Mono.fromSupplier(() -> removal.done));
    });
  }

  /// A removal of the oldest blocks. Its steps follow one another.
  private static final class Removal {
    private final Kept kept;
    private final long most;
    private long done;
    private int passed;
    private boolean isOver;

    Removal(Kept kept, long most) {
      this.kept = kept;
      this.most = most;
    }

    Mono<Void> step() {
      List<BlockKey> oldest = kept.oldest.oldest(passed, Math.clamp(most - done, 1, BATCH));
      isOver = oldest.isEmpty();
      return isOver ? Mono.empty() : removed(kept, oldest).doOnNext(count -> {
        done += count;
        passed += oldest.size() - count;
      }).then();
    }

    boolean goesOn() {
      return !isOver && done < most && passed < MOST_EXAMINED;
    }
  }

  private static Mono<Integer> removed(Kept kept, List<BlockKey> oldest) {
    return kept.space.own().terms(oldest).flatMap(terms -> {
      List<BlockKey> free = new ArrayList<>(oldest.size());
      for (int i = 0; i < oldest.size(); i++) {
        if (!isPinnedHard(terms.get(i))) {
          free.add(oldest.get(i));
        }
      }
      return free.isEmpty()
          ? Mono.just(0)
          : kept.holds.remove(free, false)
              .map(outcomes -> (int) outcomes.stream().filter(outcome -> outcome == KeyOutcome.OK).count());
    });
  }

  private static boolean isPinnedHard(PutTerms terms) {
    Pin pin = terms.pin();
    return pin != null && pin.kind() == Pin.Kind.HARD;
  }

  /// All spaces that have a quota at any member.
  public List<SpaceQuota> quotas() {
    List<SpaceQuota> quotas = new ArrayList<>();
    told().forEach((space, tellings) -> quotas.add(new SpaceQuota(tellings.getFirst().space(),
        tellings.stream().mapToLong(SpaceTelling::bytes).sum(),
        tellings.stream().mapToLong(SpaceTelling::quotaBytes).min().orElseThrow(), tellings.size())));
    return quotas;
  }

  @Override
  public void dispose() {
    looks.dispose();
    spaces.forEach(kept -> {
      kept.oldest.dispose();
      kept.holds.close();
    });
  }
}
