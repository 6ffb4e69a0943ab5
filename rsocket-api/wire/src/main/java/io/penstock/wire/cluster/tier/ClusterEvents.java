package io.penstock.wire.cluster.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.operator.CutOff;
import io.penstock.operator.InTurn;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierEvent.Level;
import io.penstock.wire.cluster.Member;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/// The events of all members as those of one tier. A block is visible while any member has it; its levels are those of
/// all members, each named *member level*. What an earlier start of a member had is forgotten before anything of a
/// later start is told, even if the connection to the earlier one neither tells nor ends: the later one ends it.
///
/// @param timers of looks for members that come and go
/// @param work runs all steps; what a member that is gone had is forgotten a few blocks at a time
/// @param closing ends the stream
/// @param closed why there is none; null if there is one
record ClusterEvents(Nodes nodes, Scheduler timers, Scheduler work, Mono<Void> closing,
    @Nullable TierClosedException closed) {
  private static final Duration LOOK = Duration.ofSeconds(1);
  /// Looks without a member after which it has left.
  private static final int ABSENT_LOOKS = 3;
  private static final int MOST_MEMBERS = 1024;
  /// Events of a member that wait for their turn.
  private static final int AHEAD = 64;

  /// One start of a member.
  record Start(String name, long generation) {}

  /// What a member said, or null when its stream has ended.
  private record Told(Start who, @Nullable TierEvent event) {}

  /// A member that is heard, and how that ends.
  private static final class Heard {
    private final Member member;
    private final Sinks.Empty<Void> end = Sinks.empty();
    private int absent;

    Heard(Member member) {
      this.member = member;
    }

    /// One look more told, or lacked, the member; a connection to one that has left may neither tell nor end.
    void seen(boolean isThere) {
      absent = isThere ? 0 : absent + 1;
      if (absent >= ABSENT_LOOKS) {
        end.tryEmitEmpty();
      }
    }
  }

  /// The members that are heard, one start of a name.
  private static final class Hearing {
    private final ClusterBlocks blocks = new ClusterBlocks();
    @GuardedBy("this") private final Map<String, Heard> heard = new HashMap<>();

    /// Those that have come. A start whose name another one still has ends that, and comes with a later look.
    synchronized List<Heard> come(List<Member> members) {
      Set<String> names = members.stream().map(Member::name).collect(Collectors.toSet());
      heard.forEach((name, each) -> each.seen(names.contains(name)));
      List<Heard> come = new ArrayList<>();
      for (Member member : members) {
        Heard before = heard.get(member.name());
        if (before == null) {
          Heard now = new Heard(member);
          heard.put(member.name(), now);
          come.add(now);
        } else if (before.member.generation() != member.generation()) {
          before.end.tryEmitEmpty();
        }
      }
      blocks.expect(come.stream().map(each -> start(each.member)).toList());
      return come;
    }

    /// The events of the cluster, made as they are taken.
    Iterable<TierEvent> events(Told told) {
      return told.event == null
          ? blocks.gone(told.who, () -> forget(told.who))
          : blocks.events(told.who, told.event);
    }

    /// Another look may find it again.
    private synchronized void forget(Start who) {
      heard.remove(who.name);
    }
  }

  /// A snapshot, then changes. They come on a thread of `work`.
  Flux<TierEvent> stream() {
    TierClosedException why = closed;
    if (why != null) {
      return Flux.error(why);
    }
    return Flux.defer(() -> {
      Hearing hearing = new Hearing();
      Flux<Told> told = Flux.interval(Duration.ZERO, LOOK, timers).onBackpressureDrop()
          .concatMap(tick -> nodes.members().onErrorResume(Asked::isPassedOver, gone -> Mono.empty()), 1)
          .concatMapIterable(hearing::come, 1)
          .flatMap(this::told, MOST_MEMBERS, AHEAD);
      // Behind the second publishOn, requests come on a thread of work, and so do the steps that they begin
      Flux<TierEvent> events =
          told.publishOn(work, AHEAD).concatMapIterable(hearing::events, AHEAD).publishOn(work, AHEAD);
      return CutOff.at(InTurn.of(Flux.just(new TierEvent.SnapshotStarted(0, List.of())), events), closing);
    });
  }

  static Start start(Member member) {
    return new Start(member.name(), member.generation());
  }

  private Flux<Told> told(Heard heard) {
    Start who = start(heard.member);
    Flux<Told> told = nodes.node(heard.member).flatMapMany(node -> node.follow()).map(event -> new Told(who, event))
        .onErrorResume(Asked::isPassedOver, gone -> Flux.empty());
    return InTurn.of(CutOff.at(told, heard.end.asMono()), Flux.just(new Told(who, null)));
  }

  /// Changes alone, behind a word that the past is not known.
  static Flux<TierEvent> changes(ClusterEvents all, long sequence) {
    Mono<TierEvent> past = all.closed == null ? Mono.just(new TierEvent.Skipped(sequence, 0)) : Mono.empty();
    return InTurn.of(past.flux(), all.stream()
        .filter(event -> !(event instanceof TierEvent.Present || event instanceof TierEvent.SnapshotStarted
            || event instanceof TierEvent.SnapshotEnded)));
  }

  /// The level of a member as one of the cluster.
  static Level level(Start who, Level level) {
    return new Level(who.name + " " + level.name(), level.medium());
  }

  static List<Level> levels(Start who, List<Level> levels) {
    return levels.stream().map(level -> level(who, level)).toList();
  }
}
