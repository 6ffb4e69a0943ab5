package io.penstock.wire.cluster.tier;

import io.penstock.operator.CutOff;
import io.penstock.operator.InTurn;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierEvent.Level;
import io.penstock.wire.cluster.Member;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The events of all members as those of one tier. A block is visible while any member has it; its levels are those of
/// all members, each named *member level*. What an earlier start of a member had is forgotten before anything of a
/// later start is told.
///
/// @param timers of looks for members that come and go
/// @param closing ends the stream
/// @param closed why there is none; null if there is one
record ClusterEvents(Nodes nodes, Scheduler timers, Mono<Void> closing, @Nullable TierClosedException closed) {
  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final int MOST_MEMBERS = 1024;
  /// Events of a member that wait for their turn.
  private static final int AHEAD = 64;

  /// One start of a member.
  record Start(String name, long generation) {}

  /// What a member said, or null when its stream has ended.
  private record Told(Start who, @Nullable TierEvent event) {}

  /// A snapshot, then changes.
  Flux<TierEvent> stream() {
    TierClosedException why = closed;
    if (why != null) {
      return Flux.error(why);
    }
    return Flux.defer(() -> {
      ClusterBlocks blocks = new ClusterBlocks();
      Set<Start> heard = new HashSet<>();
      Flux<Told> told = Flux.interval(Duration.ZERO, LOOK, timers).onBackpressureDrop()
          .concatMap(tick -> nodes.members().onErrorResume(Asked::isPassedOver, gone -> Mono.empty()), 1)
          .<Member>concatMapIterable(members -> {
            synchronized (heard) {
              List<Member> come = members.stream().filter(member -> heard.add(start(member))).toList();
              blocks.expect(come.stream().map(ClusterEvents::start).toList());
              return come;
            }
          }, 1)
          .flatMap(member -> told(member, heard), MOST_MEMBERS, AHEAD);
      Flux<TierEvent> events = told.concatMapIterable(each -> {
        List<TierEvent> out = new ArrayList<>();
        blocks.apply(each.who, each.event, out);
        return out;
      }, AHEAD);
      return CutOff.at(InTurn.of(Flux.just(new TierEvent.SnapshotStarted(0, List.of())), events), closing);
    });
  }

  static Start start(Member member) {
    return new Start(member.name(), member.generation());
  }

  private Flux<Told> told(Member member, Set<Start> heard) {
    Start who = start(member);
    Flux<Told> told = nodes.node(member).flatMapMany(node -> node.follow()).map(event -> new Told(who, event))
        .onErrorResume(Asked::isPassedOver, gone -> Flux.empty());
    return InTurn.of(told, Flux.just(new Told(who, null))).doFinally(end -> {
      synchronized (heard) { // another look may find it again
        heard.remove(who);
      }
    });
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
