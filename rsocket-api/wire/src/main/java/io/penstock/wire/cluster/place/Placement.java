package io.penstock.wire.cluster.place;

import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionUse;
import io.penstock.wire.cluster.Member;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Where new blocks go. The rest of a long prefix goes behind it, so that a conversation stays at one node; the blocks
/// of a session go to one node, too. Other blocks are dealt out among near members, those with room first: of some that
/// are drawn, to the one whose turn it is, see [Slot], and a 128th of its capacity at most before others are drawn for
/// the rest.
///
/// Where none has room, something leaves for each new block, and the whole loses least where the next to leave was not
/// used for the longest time. So a member whose victims are older gets more, and a prefix or a session binds only as
/// long as the victims of its member are nearly as old, and it was not given much more than others.
///
/// Prompts that went to members as a whole, by figures that are one or two seconds old, had 0.87 × the hits of one LRU
/// of the sum (`penstock bench cluster --scenario trace`, 8 nodes of 1,024 blocks, a public trace), and those that are
/// dealt out 0.98 ×.
///
/// A short prefix binds nothing: prompts of all users begin with the same block, and would all go to its node. On a
/// public trace of conversations, a model of 8 nodes that were bound by any prefix had 0.4 × the hits of one node of
/// their capacity. `penstock bench cluster --scenario trace` measures nodes as they are.
///
/// A choice costs the same however many members there are; what it needs is prepared when the list of members changes.
/// Only when a chosen member is away all others are looked at. Safe from any thread.
public final class Placement {
  /// How much younger than another's the next victim of a member may be, to which a prefix or a session binds.
  private static final double NEARLY_AS_OLD = 0.8;
  /// How much more of its capacity than another a member was given, to which a prefix or a session binds.
  private static final double NEARLY_ITS_TURN = 1.0 / 16;
  private static final int PARTS = 128;
  private static final int LEAST_BLOCKS = 8;
  /// Members that are drawn for one at another place.
  private static final int DRAWN_FOR_COPY = 8;

  private final String place;
  private final RandomGenerator random;
  private final LongSupplier millis;
  private final AtomicReference<@Nullable MemberView> prepared = new AtomicReference<>();

  /// @param place of the writer, see [Member#place()]
  /// @param random draws members
  /// @param millis clock of any origin
  public Placement(String place, RandomGenerator random, LongSupplier millis) {
    this.place = place;
    this.random = random;
    this.millis = millis;
  }

  /// What new blocks are.
  ///
  /// @param bytes of all of them
  /// @param before the member that has a long prefix before them; null if there is none
  /// @param session of them; null for none
  public record Wish(long bytes, @Nullable Member before, @Nullable SessionUse session) {}

  /// The members that are tried for some blocks, one after the other. For one thread at a time.
  public final class Targets {
    private final MemberView view;
    private final Wish wish;
    private final Set<Member> tried = new HashSet<>();
    private @Nullable List<Member> rest;

    private Targets(MemberView view, Wish wish) {
      this.view = view;
      this.wish = wish;
    }

    /// The next member; null if none is left.
    public @Nullable Member next() {
      if (tried.isEmpty()) {
        Slot first = choice(view, wish, tried);
        return first == null ? null : tried(first.member);
      }
      List<Member> others = rest();
      while (!others.isEmpty()) {
        Member next = others.removeFirst();
        if (!tried.contains(next)) {
          return tried(next);
        }
      }
      return null;
    }

    /// The next member for a copy of blocks that the members before have: at another place, if there is one with room.
    public @Nullable Member nextApart() {
      Slot apart = tried.isEmpty() ? choice(view, wish, tried) : apart(view, wish.bytes(), tried);
      return apart == null ? null : tried(apart.member);
    }

    private Member tried(Member member) {
      tried.add(member);
      return member;
    }

    private List<Member> rest() {
      List<Member> others = rest;
      if (others == null) {
        others = order(view, wish.bytes());
        rest = others;
      }
      return others;
    }
  }

  public Targets targets(List<Member> members, Wish wish) {
    return new Targets(view(members), wish);
  }

  /// Blocks that one member may get at once, if it has no room for all that are bound to it.
  public int portion(List<Member> members, Wish wish, long blockBytes) {
    MemberView view = view(members);
    Slot bound = view.slots.size() == 1 ? null : bound(view, wish);
    return view.slots.size() == 1 || (bound != null && bound.hasRoom(wish.bytes()))
        ? Integer.MAX_VALUE
        : Math.clamp(view.leastCapacity / PARTS / blockBytes, LEAST_BLOCKS, Integer.MAX_VALUE);
  }

  /// A member was given blocks.
  public void given(List<Member> members, Member member, long bytes) {
    Slot slot = view(members).of(member);
    if (slot != null) {
      slot.give(bytes);
    }
  }

  /// All members that take blocks, in the order in which new blocks would try them. Looks at all of them.
  public List<Member> order(List<Member> members, long bytes) {
    MemberView view = view(members);
    Slot first = choice(view, new Wish(bytes, null, null), Set.of());
    List<Member> order = order(view, bytes);
    if (first != null && order.remove(first.member)) {
      order.addFirst(first.member);
    }
    return order;
  }

  private List<Member> order(MemberView view, long bytes) {
    List<Slot> all = view.all();
    synchronized (random) {
      Collections.shuffle(all, random);
    }
    all.sort(Comparator.comparing((Slot slot) -> !slot.hasRoom(bytes)).thenComparing(slot -> -slot.nearness));
    return new ArrayList<>(all.stream().map(slot -> slot.member).toList());
  }

  @SuppressWarnings("ReferenceEquality") // comparing two lists would cost as many steps as they have members
  private MemberView view(List<Member> members) {
    MemberView known = prepared.get();
    if (known != null && known.members == members) {
      return known;
    }
    MemberView view = new MemberView(members, place, known, millis.getAsLong());
    prepared.set(view);
    return view;
  }

  private @Nullable Slot choice(MemberView view, Wish wish, Set<Member> tried) {
    if (view.groups.isEmpty()) {
      return null;
    }
    boolean roomSomewhere = view.mostFree >= wish.bytes();
    Slot before = view.of(wish.before());
    if (before != null && before.hasRoom(wish.bytes())) {
      return before;
    }
    SessionId session = wish.session() == null ? null : wish.session().session();
    synchronized (random) {
      for (MemberView.Near near : roomSomewhere ? view.groups : List.<MemberView.Near>of()) {
        Slot roomy = session == null ? null : near.ring().withRoom(session, wish.bytes(), view.slots, tried);
        roomy = roomy == null ? near.draw().withRoom(wish.bytes(), random) : roomy;
        if (roomy != null) {
          return roomy;
        }
      }
      Slot next = view.groups.getFirst().draw().next(wish.bytes(), random);
      Slot bound = bound(view, wish);
      return bound != null && binds(bound, next) ? bound : next;
    }
  }

  /// The member that has the prefix, or is that of the session; null if there is none.
  private static @Nullable Slot bound(MemberView view, Wish wish) {
    Slot before = view.of(wish.before());
    return before != null || wish.session() == null || view.groups.isEmpty()
        ? before
        : view.groups.getFirst().ring().owner(wish.session().session(), view.slots);
  }

  private boolean binds(Slot bound, Slot next) {
    long now = millis.getAsLong();
    return bound.idle(now) >= NEARLY_AS_OLD * next.idle(now) && bound.turn(0) <= next.turn(0) + NEARLY_ITS_TURN;
  }

  /// The one with room that has the fewest words of its place in common with any of `others`, of some that are drawn;
  /// of all, if each of those is where a copy is, and another place exists.
  private @Nullable Slot apart(MemberView view, long bytes, Set<Member> others) {
    List<Slot> drawn = new ArrayList<>();
    synchronized (random) {
      for (MemberView.Near near : view.groups) {
        for (int i = 0; i < DRAWN_FOR_COPY; i++) {
          Slot slot = near.draw().any(random);
          if (!others.contains(slot.member)) {
            drawn.add(slot);
          }
        }
      }
    }
    Slot best = farthest(drawn.stream(), bytes, others);
    if (best != null && best.hasRoom(bytes) && common(best, others) <= view.common) {
      return best;
    }
    return farthest(view.all().stream().filter(slot -> !others.contains(slot.member)), bytes, others);
  }

  private @Nullable Slot farthest(Stream<Slot> slots, long bytes, Set<Member> others) {
    long now = millis.getAsLong();
    Map<Slot, Integer> common = new HashMap<>();
    return slots.min(Comparator
        .comparing((Slot slot) -> common.computeIfAbsent(slot, each -> common(each, others)))
        .thenComparing(slot -> !slot.hasRoom(bytes)).thenComparing(slot -> -slot.nearness)
        .thenComparing(slot -> slot.hasRoom(bytes) ? slot.taken() : -slot.idle(now))).orElse(null);
  }

  private static int common(Slot slot, Set<Member> others) {
    return others.stream().mapToInt(other -> Member.nearness(slot.member.place(), other.place())).max().orElse(0);
  }
}
