package io.penstock.flow;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.BlockView;
import io.penstock.block.UnexpectedSliceException;
import io.penstock.disagg.plan.TokenPiece;
import io.penstock.disagg.plan.Transfer;
import io.penstock.disagg.request.MoveTicket;
import io.penstock.disagg.request.ShardMover;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.spi.ViewLanding;
import io.penstock.tier.spi.ViewLanding.Landed;
import io.penstock.tier.spi.ViewSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Fills the blocks of one decode rank with the bytes that a plan assigns to prefill ranks: heads and layers of several
/// peers, token by token of blocks of another size, each in its place.
///
/// | | |
/// |---|---|
/// | order | transfers of one lane in the order of the plan, one at a time; lanes side by side |
/// | backpressure | landed bytes; sources are asked as the reader asks, within the byte budgets of the sources |
/// | fairness | requests of one lane in the order of their subscriptions; lanes share a budget slice by slice |
/// | ends | when all transfers have landed; a transfer without pieces asks nothing |
/// | cancel | ends all transfers; drafts stay as they are, and nothing lands in them any more |
/// | signals | the first error of a source, which ends the other transfers; |
/// |         | [io.penstock.budget.BudgetExhaustedException] if too many wait for a lane |
/// |         | [io.penstock.block.UnexpectedSliceException] before anything is asked, if two claim the same bytes |
public final class PullBlocks {
  /// A fetch asks for so many times the tokens that it places, at most.
  private static final double MOST_ASKED = 1.5;

  private PullBlocks() {}

  /// One peer, as one shard of a reader sees it: its requests queue, and one is served at a time.
  public static final class Lane {
    private final ViewSource source;
    private final ByteBudget turns;

    /// @param maxWaiting longest queue of requests
    public Lane(ViewSource source, int maxWaiting) {
      this.source = requireNonNull(source, "source");
      this.turns = new ByteBudget("turns of a peer", 1, maxWaiting);
    }

    public ViewSource source() {
      return source;
    }

    private Flux<Landed> inTurn(Flux<Landed> work) {
      return Flux.using(BlockScope::new, scope -> turns.acquire(1, scope).flatMapMany(turn -> work),
          BlockScope::close);
    }
  }

  /// Sources and destinations of the transfers of one request.
  public interface Places {
    /// The lane to the source of `transfer`.
    Lane lane(Transfer transfer);

    /// Keys of the blocks that the source of `transfer` keeps for the request, in the order of its block list.
    List<BlockKey> keys(Transfer transfer);

    /// The draft of a block of the destination of `transfer`. The caller owns it, and seals it when all of it has
    /// arrived.
    BlockDraft draft(Transfer transfer, int destinationBlock);
  }

  /// Pulls blocks that their sources have. A miss is an error.
  ///
  /// @param transfers to one destination
  public static Flux<Landed> pull(List<Transfer> transfers, Places places) {
    return Flux.defer(() -> sideBySide(fetches(transfers, places), true));
  }

  /// Receives what the sources push: asks for it at once, before it is computed, and takes layers as they become ready.
  /// All transfers run side by side, because one that waits must hold up no other. The stream of a source ends when it
  /// has sent all of its layers.
  ///
  /// @param transfers to one destination; their keys are those of [PushLayers#keys]
  public static Flux<Landed> receive(List<Transfer> transfers, Places places) {
    return Flux.defer(() -> sideBySide(fetches(transfers, places), false));
  }

  /// A mover for the life of a request: moves the transfers of one source, as often as needed, and writes while its
  /// ticket admits that. A repeated move writes no byte twice. Each move asks for lanes again.
  ///
  /// @param transfers from one source to one destination
  /// @param isPush whether the source pushes, as [#receive], or is pulled from
  public static ShardMover mover(List<Transfer> transfers, Places places, boolean isPush) {
    return new Mover(List.copyOf(transfers), places, isPush);
  }

  /// Tokens that are moved for a transfer. A source sends the same tokens of each of its blocks, so these are more than
  /// the transfer has where its last block is not full.
  public static long movedTokens(Transfer transfer) {
    return together(transfer.pieces()).stream().mapToLong(PullBlocks::asked).sum();
  }

  private static long asked(List<TokenPiece> pieces) {
    long blocks = pieces.stream().mapToInt(TokenPiece::sourceBlock).distinct().count();
    return blocks * (end(pieces) - first(pieces));
  }

  private record Fetch(Transfer transfer, Lane lane, List<BlockKey> keys, ViewLanding landing) {
    /// A fetch over the lane `now`, from which bytes land only while `ticket` admits the generation of its source.
    Fetch attempt(Lane now, MoveTicket ticket) {
      return new Fetch(transfer, now, keys,
          landing.attempt(ticket.attempt(), ticket.request(),
              () -> requireAdmitted(ticket, now.source().generation())));
    }

    private static void requireAdmitted(MoveTicket ticket, long generation) {
      if (!ticket.admits(generation)) {
        throw new UnexpectedSliceException("generation",
            "" + ticket.source().generation() + ", of a move that goes on", generation);
      }
    }

    Flux<Landed> run(OnMiss onMiss) {
      return lane.source().fetch(keys, onMiss, landing);
    }
  }

  private static final class Mover implements ShardMover {
    private final List<Transfer> transfers;
    private final Places places;
    private final boolean isPush;
    /// Parts of drafts are claimed once, by the first move.
    private volatile @Nullable List<Fetch> claimed;
    /// The fetches of the last move.
    private volatile List<Fetch> asked = List.of();

    Mover(List<Transfer> transfers, Places places, boolean isPush) {
      this.transfers = transfers;
      this.places = places;
      this.isPush = isPush;
    }

    @Override
    public Mono<Void> move(MoveTicket ticket) {
      return Mono.defer(() -> {
        List<Fetch> all = claimed == null ? fetches(transfers, places) : requireNonNull(claimed);
        claimed = all;
        List<Fetch> attempt =
            all.stream().map(fetch -> fetch.attempt(places.lane(fetch.transfer()), ticket)).toList();
        asked = attempt;
        return sideBySide(attempt, !isPush).doOnNext(landed -> ticket.landed(landed.bytes())).then();
      });
    }

    /// Asks the sources of the last move, which later sources may have replaced.
    @Override
    public Mono<Void> drained(MoveTicket ticket) {
      return Flux.defer(() -> Flux.fromIterable(asked)).map(fetch -> fetch.lane().source()).distinct()
          .flatMap(ViewSource::drained).then();
    }
  }

  private static Flux<Landed> sideBySide(List<Fetch> fetches, boolean inTurn) {
    if (fetches.isEmpty()) {
      return Flux.empty();
    } else if (!inTurn) {
      return Flux.fromIterable(fetches).flatMap(fetch -> fetch.run(OnMiss.AWAIT), fetches.size(), 1);
    }
    Map<Lane, List<Fetch>> lanes = new LinkedHashMap<>();
    fetches.forEach(fetch -> lanes.computeIfAbsent(fetch.lane(), lane -> new ArrayList<>()).add(fetch));
    return Flux.fromIterable(lanes.entrySet()).flatMap(lane -> lane.getKey().inTurn(
        Flux.fromIterable(lane.getValue()).concatMap(fetch -> fetch.run(OnMiss.SKIP), 0)), lanes.size(), 1);
  }

  /// Creates all fetches before the first is asked: overlapping parts are refused before a byte moves.
  private static List<Fetch> fetches(List<Transfer> transfers, Places places) {
    return transfers.stream()
        .flatMap(transfer -> together(transfer.pieces()).stream().map(pieces -> fetch(transfer, pieces, places)))
        .toList();
  }

  /// The pieces that one fetch asks for: all of them, unless that would ask for much that is dropped. Then those at the
  /// same tokens of their blocks go together.
  private static Collection<List<TokenPiece>> together(List<TokenPiece> pieces) {
    long wanted = pieces.stream().mapToInt(TokenPiece::tokens).sum();
    return asked(pieces) <= MOST_ASKED * wanted
        ? List.of(pieces)
        : pieces.stream().collect(Collectors.groupingBy(piece -> new Run(piece.sourceToken(), piece.tokens()),
            LinkedHashMap::new, Collectors.toList())).values();
  }

  /// Some tokens of a block.
  private record Run(int first, int tokens) {}

  private static int first(List<TokenPiece> pieces) {
    return pieces.stream().mapToInt(TokenPiece::sourceToken).min().orElseThrow();
  }

  private static int end(List<TokenPiece> pieces) {
    return pieces.stream().mapToInt(piece -> piece.sourceToken() + piece.tokens()).max().orElseThrow();
  }

  private static Fetch fetch(Transfer transfer, List<TokenPiece> pieces, Places places) {
    Lane lane = places.lane(transfer);
    BlockLayout layout = lane.source().space().layout();
    List<BlockKey> all = places.keys(transfer);
    int first = first(pieces);
    ViewLanding landing = new ViewLanding(layout, BlockView.of(layout, transfer.layers().atSource(),
        transfer.layers().count(), transfer.heads().atSource(), transfer.heads().count(), first, end(pieces) - first));
    Map<Integer, Integer> positions = new LinkedHashMap<>();
    for (TokenPiece piece : pieces) {
      int position = positions.computeIfAbsent(piece.sourceBlock(), block -> positions.size());
      BlockDraft draft = places.draft(transfer, piece.destinationBlock());
      landing.to(position, piece.sourceToken(), draft.part(BlockView.of(draft.layout(),
          transfer.layers().atDestination(), transfer.layers().count(), transfer.heads().atDestination(),
          transfer.heads().count(), piece.destinationToken(), piece.tokens())));
    }
    return new Fetch(transfer, lane, positions.keySet().stream().map(all::get).toList(), landing);
  }
}
