package io.penstock.wire.cluster.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.session.SessionUse;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The leases of one request at the members of a cluster, which end together.
///
/// @param opening leases at one member
/// @param held owns the leases
record MemberLeases(Asked asked, Opening opening, BlockScope held) {
  /// How blocks are leased at a member.
  interface Opening {
    /// @param member its number in what the directory said
    /// @param held owns the lease
    Mono<Lease> at(int member, BlockTier node, List<BlockKey> keys, BlockScope held);

    /// The request begins; what it needs until its end goes into `held`.
    default void begun(BlockScope held) {}
  }

  /// A lease at one member.
  record Part(KeyRun run, Lease lease) {
    /// Positions in the request that it found.
    BitSet found() {
      return run.in(lease.found());
    }
  }

  /// Decides on the keys at the members that have them.
  ///
  /// @param onMiss what each member does about keys that it lacks after all
  /// @param session of the request; null for none
  /// @param scope owns the lease
  static Mono<Lease> decide(Asked asked, OnMiss onMiss, @Nullable SessionUse session, BlockLayout layout,
      BlockScope scope) {
    return decide(asked, (member, node, keys, held) -> node.lease(keys, onMiss, session, held), layout, scope);
  }

  /// @param scope owns the lease
  static Mono<Lease> decide(Asked asked, Opening opening, BlockLayout layout, BlockScope scope) {
    return Mono.defer(() -> {
      MemberLeases leases = new MemberLeases(asked, opening, new BlockScope());
      opening.begun(leases.held);
      return leases.parts()
          .<Lease>map(parts -> scope.adopt(new ClusterLease(leases, parts, asked.keys().size(), layout)))
          .doOnError(failure -> leases.close()).doOnCancel(leases::close);
    });
  }

  /// Leases of what remains, in the order of the keys; those that wait for a writer come last.
  private Mono<List<Part>> parts() {
    return Mono.defer(() -> {
      Parts parts = new Parts();
      Supplier<List<KeyRun>> runs = asked.remaining()::runs;
      return asked.rounds(runs, run -> asked.node(run)
          .flatMap(node -> opening.at(run.member(), node, run.keys(asked.keys()), held))
          .doOnNext(lease -> parts.add(new Part(run, lease), asked.remaining())).then())
          .then(Mono.fromSupplier(parts::inOrder));
    });
  }

  /// Leases of blocks that a member did not give after all.
  ///
  /// @param isGone whether that member is not to be asked for anything else
  Mono<List<Part>> instead(Part of, BitSet positions, boolean isGone) {
    return Mono.defer(() -> {
      of.lease().close();
      if (isGone) {
        asked.remaining().gone(of.run().member());
      }
      asked.remaining().lost(positions);
      return parts();
    });
  }

  void close() {
    held.close();
  }

  private static final class Parts {
    @GuardedBy("this") private final List<Part> all = new ArrayList<>();

    synchronized void add(Part part, Remaining remaining) {
      BitSet settled = part.found();
      settled.or(part.run().in(part.lease().awaited()));
      remaining.found(settled);
      if (settled.isEmpty()) {
        part.lease().close();
      } else {
        all.add(part);
      }
    }

    synchronized List<Part> inOrder() {
      all.sort(Comparator.comparing((Part part) -> part.lease().awaited().count() > 0)
          .thenComparing(part -> part.run().positions()[0]));
      return List.copyOf(all);
    }
  }
}
