package io.penstock.cluster.directory;

import io.penstock.block.BlockKey;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Located.Holder;
import io.penstock.wire.cluster.Member;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/// Answers which members say that they have a block. Immutable.
public final class Locate {
  private final SharedMap map;
  private final BlockNames names;
  private final Supplier<KnownMembers> members;

  /// @param members those that are there now
  public Locate(SharedMap map, BlockNames names, Supplier<KnownMembers> members) {
    this.map = map;
    this.names = names;
    this.members = members;
  }

  /// The holders of `keys`, the fastest levels first, asked for in one trip to each member that keeps a part of them.
  public Mono<Located> locate(List<BlockKey> keys) {
    List<BlockName> asked = keys.stream().map(names::of).toList();
    return map.locate(asked).map(found -> answer(found, members.get()));
  }

  /// Questions to members that had no answer in time, or an error, so far: what these keep was as if unknown.
  public long unanswered() {
    return map.unanswered();
  }

  private static Located answer(List<byte[]> found, KnownMembers known) {
    Map<Integer, Integer> numbers = new LinkedHashMap<>();
    List<List<Holder>> all = new ArrayList<>(found.size());
    for (byte[] holders : found) {
      all.add(present(holders, known).stream().map(
          holder -> new Holder(numbers.computeIfAbsent(holder.member(), member -> numbers.size()), holder.level()))
          .toList());
    }
    List<Member> named = numbers.keySet().stream().map(known.members()::get).toList();
    return Located.of(named, all);
  }

  /// Holders that are members now, each once, numbered as `known` does.
  private static List<Holder> present(byte[] holders, KnownMembers known) {
    if (holders.length == 0) {
      return List.of();
    }
    Map<Integer, Holder> present = new LinkedHashMap<>();
    for (int i = 0; i < Holders.count(holders); i++) {
      Integer member = known.memberOf(Holders.roundAt(holders, i));
      if (member != null) {
        present.merge(member, new Holder(member, Holders.levelAt(holders, i)),
            (one, other) -> one.level() <= other.level() ? one : other);
      }
    }
    return present.values().stream().sorted(Comparator.comparingInt(Holder::level)).limit(Located.MOST_HOLDERS)
        .toList();
  }
}
