package io.penstock.node.door;

import io.penstock.flow.StoredValue;
import io.penstock.flow.ValueStore;
import io.penstock.tier.BlockTier;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The tiers of a space, each with parts of another length. A size is the index of a tier, 0 for the longest parts.
/// Safe from any thread.
final class SizedStores {
  private static final int HEAD_BYTES = 36;
  private static final int ALIGNMENT = 64;
  private static final int WASTE = 3;

  private final List<BlockTier> tiers;
  private final List<ValueStore> stores;
  private final int[] partBytes;

  /// @param tiers the longest parts first; at least one
  /// @param turns in which a store removes what it finds broken
  SizedStores(List<BlockTier> tiers, NameTurns turns) {
    if (tiers.isEmpty()) {
      throw new IllegalArgumentException("tiers must be at least one (was none)");
    }
    this.tiers = List.copyOf(tiers);
    this.stores = tiers.stream().map(tier -> new ValueStore(tier, turns::run)).toList();
    this.partBytes = tiers.stream().mapToInt(tier -> tier.info().space().layout().blockBytes()).toArray();
  }

  /// Number of the sizes.
  int count() {
    return stores.size();
  }

  BlockTier tier(int size) {
    return tiers.get(size);
  }

  ValueStore store(int size) {
    return stores.get(size);
  }

  List<BlockTier> tiers() {
    return tiers;
  }

  List<ValueStore> stores() {
    return stores;
  }

  /// The bytes that a value takes in its tier.
  long bytes(StoredValue stored, int size) {
    return stored.blocks() * partBytes[size];
  }

  /// The size that a value gets, as [DoorValues] says.
  int of(String name, long length) {
    int before = (HEAD_BYTES + name.getBytes(StandardCharsets.UTF_8).length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    for (int i = 0; i < partBytes.length - 1; i++) {
      long taken = Math.ceilDiv(length + before, (long) partBytes[i]) * partBytes[i];
      if (taken - length <= length / WASTE) {
        return i;
      }
    }
    return partBytes.length - 1;
  }

  /// The value that lies in one size, as far as its head tells; parts of it may be gone. No read where there is none.
  Mono<Optional<StoredValue>> headAt(String name, int size) {
    return stores.get(size).find(name).singleOptional();
  }

  /// Removes this value, and no other of its name. In a turn of the name.
  Mono<Boolean> remove(KnownNames.Known one) {
    return stores.get(one.size()).remove(one.stored());
  }

  /// Removes the value of a name from every size.
  Mono<Boolean> removeAll(String name) {
    return removeBut(name, -1);
  }

  /// Removes the value of a name from every size but one.
  Mono<Boolean> removeBut(String name, int but) {
    return Flux.range(0, stores.size()).filter(i -> i != but).concatMap(i -> removeAt(name, i))
        .reduce(false, Boolean::logicalOr);
  }

  private Mono<Boolean> removeAt(String name, int size) {
    ValueStore store = stores.get(size);
    return tiers.get(size).contains(List.of(store.headKey(name)))
        .flatMap(there -> there.count() == 0 ? Mono.just(false) : store.remove(name));
  }
}
