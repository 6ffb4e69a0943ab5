package io.penstock.lab.bench.cluster.scale;

import io.penstock.cluster.directory.BlockName;
import io.penstock.cluster.directory.Holders;
import io.penstock.cluster.directory.KnownMembers;
import io.penstock.cluster.directory.MapLoss;
import io.penstock.cluster.directory.Rounds;
import io.penstock.cluster.directory.SharedMap;
import io.penstock.wire.cluster.Member;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The map of the directory, and the records of its members, in a form that 10⁸ names fit in, under virtual time. It
/// counts what would be messages between members: a question to each other member that keeps a part of the names, and
/// its answer. One thread uses it.
final class ModelMap implements AutoCloseable {
  private static final Duration TRIP = Duration.ofMillis(1);
  private static final int LEVEL_BITS = 8;
  private static final int MANY = -1;
  private static final long[] NO_FORMER = {};

  private final NameTable table;
  /// Names that have, or had, more than one holder, or none any more.
  private final Map<BlockName, byte[]> others = new HashMap<>();
  private final List<Long> rounds = new ArrayList<>();
  private final Map<Long, Integer> numbers = new HashMap<>();
  private final List<Member> members;
  private final List<Map<Object, long[]>> valid = new ArrayList<>();
  private final Scheduler time;
  private @Nullable KnownMembers known;
  private long messages;
  private long records;

  /// @param names that it has room for
  /// @param members in the order of their names
  ModelMap(long names, List<Member> members, Scheduler time) {
    this.table = new NameTable(names);
    this.members = members;
    this.time = time;
    rounds.add(0L); // a number of the table is not 0
    members.forEach(member -> valid.add(new HashMap<>()));
  }

  /// Messages of the directory so far, answers included.
  long messages() {
    return messages;
  }

  /// Messages so far by which records of members were told.
  long records() {
    return records;
  }

  long names() {
    return table.size();
  }

  long bytes() {
    return table.bytes();
  }

  KnownMembers known() {
    KnownMembers now = known;
    if (now == null) {
      now = new KnownMembers(members, valid.stream()
          .map(own -> own.values().stream().flatMapToLong(Arrays::stream).toArray()).toList());
      known = now;
    }
    return now;
  }

  /// The member that keeps a segment: each as many as any other, or one, or none if there are more members.
  private int owner(int segment) {
    int count = members.size();
    return count < BlockName.SEGMENTS ? segment % count : segment * count / BlockName.SEGMENTS;
  }

  /// The map as one member sees it.
  Part at(int member) {
    return new Part(member);
  }

  private byte[] holders(BlockName name) {
    int packed = table.get(name);
    return packed == 0
        ? Holders.NONE
        : packed == MANY
            ? others.getOrDefault(name, Holders.NONE)
            : Holders.with(Holders.NONE, rounds.get(packed >>> LEVEL_BITS), packed & ((1 << LEVEL_BITS) - 1),
                NO_FORMER);
  }

  private void keep(BlockName name, byte[] holders) {
    if (Holders.count(holders) == 1 && table.get(name) != MANY) {
      int number = numbers.computeIfAbsent(Holders.roundAt(holders, 0), round -> {
        rounds.add(round);
        return rounds.size() - 1;
      });
      table.put(name, number << LEVEL_BITS | Holders.levelAt(holders, 0));
    } else {
      table.put(name, MANY);
      others.put(name, holders);
    }
  }

  @Override
  public void close() {
    table.close();
  }

  /// What one member asks of the map.
  final class Part implements SharedMap, Rounds {
    private final int self;

    private Part(int self) {
      this.self = self;
    }

    @Override
    public Mono<Void> tell(Object tier, long... told) {
      return trip().doOnNext(passed -> {
        records += members.size() - 1;
        known = null;
        if (told.length == 0) {
          valid.get(self).remove(tier);
        } else {
          valid.get(self).put(tier, told.clone());
        }
      }).then();
    }

    @Override
    public Mono<Void> announce(long round, int level, long[] former, List<BlockName> names) {
      return asked(names).doOnNext(passed -> {
        for (BlockName name : names) {
          keep(name, Holders.with(holders(name), round, level, former));
        }
      }).then();
    }

    @Override
    public Mono<Void> forget(long[] gone, List<BlockName> names) {
      return asked(names).doOnNext(passed -> {
        for (BlockName name : names) {
          keep(name, Holders.without(holders(name), round -> Holders.contains(gone, round)));
        }
      }).then();
    }

    @Override
    public Mono<List<byte[]>> locate(List<BlockName> names) {
      return asked(names).map(passed -> names.stream().map(ModelMap.this::holders).toList());
    }

    /// Asks each keeper of any of the names, all at once.
    private Mono<Long> asked(List<BlockName> names) {
      return Mono.defer(() -> {
        BitSet keepers = new BitSet(members.size());
        names.forEach(name -> keepers.set(owner(name.segment())));
        keepers.clear(self);
        messages += 2L * keepers.cardinality();
        return trip();
      });
    }

    private Mono<Long> trip() {
      return Mono.delay(TRIP, time);
    }

    /// No round ends in this model, so there is nothing to sweep.
    @Override
    public Mono<long[]> unknown(LongPredicate told) {
      return Mono.just(NO_FORMER);
    }

    @Override
    public Mono<Void> purge(long[] dead) {
      return Mono.empty();
    }

    @Override
    public Flux<MapLoss> losses() {
      return Flux.never();
    }
  }
}
