package io.penstock.wire.cluster.tier;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.operator.InTurn;
import io.penstock.tier.Receipt;
import io.penstock.tier.Receipt.Durability;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The receipts of one put at several members, put together: a block has its receipt when each member has answered for
/// it. What a member that failed had stored before counts for nothing; the put fails if all members do.
final class CopiedPut {
  private final int copies;
  @GuardedBy("this") private final Map<BlockKey, TreeMap<Integer, Receipt>> stored = new HashMap<>();
  @GuardedBy("this") private final BitSet open = new BitSet();
  @GuardedBy("this") private @Nullable Throwable failure;
  @GuardedBy("this") private boolean anyEnded;
  @GuardedBy("this") private long missing;

  /// What one member says.
  ///
  /// @param receipt null at the end of its put
  /// @param failure why it ended; null for a good end
  private record Said(int copy, @Nullable Receipt receipt, @Nullable Throwable failure) {}

  CopiedPut(int copies) {
    this.copies = copies;
    open.set(0, copies);
  }

  /// Copies that the blocks with a receipt lack.
  synchronized long missing() {
    return missing;
  }

  /// @param puts one for each copy, all subscribed at once
  Flux<Receipt> receipts(List<Flux<Receipt>> puts) {
    List<Flux<Said>> said = new ArrayList<>();
    for (int i = 0; i < puts.size(); i++) {
      int copy = i;
      said.add(InTurn.of(puts.get(i).map(receipt -> new Said(copy, receipt, null)),
          Flux.defer(() -> Flux.just(new Said(copy, null, null))))
          .onErrorResume(Asked::isPassedOver, gone -> Mono.just(new Said(copy, null, gone))));
    }
    return InTurn.of(Flux.fromIterable(said).flatMap(each -> each, copies).concatMapIterable(this::heard),
        Flux.defer(() -> {
          Throwable all = failureOfAll();
          return all == null ? Flux.empty() : Flux.error(all);
        }));
  }

  private synchronized @Nullable Throwable failureOfAll() {
    return anyEnded ? null : failure;
  }

  /// @return receipts of the blocks for which all have answered now
  private synchronized List<Receipt> heard(Said said) {
    Receipt receipt = said.receipt();
    if (receipt != null) {
      TreeMap<Integer, Receipt> of = stored.computeIfAbsent(receipt.key(), none -> new TreeMap<>());
      of.put(said.copy(), receipt);
      return isAnswered(of) ? List.of(joined(requireNonNull(stored.remove(receipt.key())))) : List.of();
    }
    open.clear(said.copy());
    if (said.failure() == null) {
      anyEnded = true;
    } else {
      failure = failure == null ? said.failure() : failure;
      stored.values().forEach(of -> of.remove(said.copy()));
      stored.values().removeIf(Map::isEmpty);
    }
    List<Receipt> answered = new ArrayList<>();
    for (TreeMap<Integer, Receipt> of : List.copyOf(stored.values())) {
      if (isAnswered(of)) {
        Receipt joined = joined(of);
        stored.remove(joined.key());
        answered.add(joined);
      }
    }
    return answered;
  }

  /// Whether none of the puts that go on owes a receipt.
  @GuardedBy("this") private boolean isAnswered(TreeMap<Integer, Receipt> of) {
    return open.stream().allMatch(of::containsKey);
  }

  /// One receipt, which names all members that have the block, and promises what all of them promise.
  @GuardedBy("this") private Receipt joined(TreeMap<Integer, Receipt> of) {
    missing += copies - of.size();
    Receipt first = of.firstEntry().getValue();
    Durability least = of.values().stream().map(Receipt::durability).min(Durability::compareTo).orElseThrow();
    return new Receipt(first.key(), of.values().stream().map(Receipt::tier).collect(Collectors.joining(" + ")), least,
        first.sequence());
  }
}
