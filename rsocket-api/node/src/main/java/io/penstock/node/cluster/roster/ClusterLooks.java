package io.penstock.node.cluster.roster;

import io.penstock.node.cli.UnavailableException;
import io.penstock.node.cluster.roster.ClusterSight.Said;
import io.penstock.node.link.ClusterLink;
import io.penstock.node.text.Durations;
import io.penstock.wire.cluster.ClusterDirectory;
import io.penstock.wire.cluster.ClusterTasks;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.transport.Endpoint;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Looks at a whole cluster from one of its nodes: it asks each member what it does and which members it knows. However
/// many questions come, the members are asked once in two seconds, a few at a time. Safe from any thread.
public final class ClusterLooks {
  /// Age at which a look is not shown any more.
  static final Duration FRESH = Duration.ofSeconds(2);
  /// Longest wait for one endpoint.
  static final Duration PATIENCE = Duration.ofSeconds(1);
  /// Longest time of a look: what members have not said by then is not shown.
  static final Duration LONGEST = Duration.ofSeconds(4);
  private static final int AT_ONCE = 16;

  private final Terms terms;
  private final Mono<ClusterSight> look;

  /// @param directory of the node that looks
  /// @param node its name
  /// @param tasks its tasks
  /// @param toldAgo age of the record of the member of a name
  /// @param links to the node at an endpoint
  /// @param timers clock of the looks
  public record Terms(ClusterDirectory directory, String node, ClusterTasks tasks,
      Function<String, Optional<Duration>> toldAgo, Function<Endpoint, ClusterLink> links, Scheduler timers) {}

  public ClusterLooks(Terms terms) {
    this.terms = terms;
    this.look = Mono.defer(this::now).cache(sight -> FRESH, failure -> Duration.ZERO, () -> Duration.ZERO,
        terms.timers());
  }

  /// The cluster as it is now, or was within [#FRESH]. A member that does not answer is a finding, not a failure.
  public Mono<ClusterSight> look() {
    return look;
  }

  private Mono<ClusterSight> now() {
    ClusterView view = new ClusterView(terms.directory().cluster(), terms.directory().members(),
        terms.directory().quotas());
    return Flux.fromIterable(view.members()).flatMap(member -> said(member, view), AT_ONCE, 1)
        .take(LONGEST, terms.timers()).collectList()
        .map(said -> new ClusterSight(view, terms.node(), ages(view), inOrder(view, said)));
  }

  private Map<String, Duration> ages(ClusterView view) {
    Map<String, Duration> ages = new HashMap<>();
    for (Member member : view.members()) {
      terms.toldAgo().apply(member.name()).ifPresent(ago -> ages.put(member.name(), ago));
    }
    return ages;
  }

  private static List<Said> inOrder(ClusterView view, List<Said> said) {
    Map<Member, Said> all = new HashMap<>();
    said.forEach(each -> all.put(each.answer().member(), each));
    return view.members().stream().filter(all::containsKey).map(all::get).toList();
  }

  private Mono<Said> said(Member member, ClusterView view) {
    if (member.name().equals(terms.node())) {
      return Mono.fromSupplier(() -> new Said(new Doctor.Answer(member, view, ""), terms.tasks().tasks(), ""));
    }
    return asked(member, member.endpoints()).onErrorResume(failure -> Mono.just(
        new Said(new Doctor.Answer(member, null, ClusterSight.reason(failure)), null, "")));
  }

  /// The answer at the first of `places` that has one.
  private Mono<Said> asked(Member member, List<String> places) {
    if (places.isEmpty()) {
      return Mono.error(new UnavailableException("it tells no endpoint"));
    }
    Mono<Said> first = Mono.defer(() -> said(member, terms.links().apply(Endpoint.parse(places.getFirst()))))
        .timeout(PATIENCE, silent(), terms.timers());
    return places.size() == 1
        ? first
        : first.onErrorResume(failure -> asked(member, places.subList(1, places.size())));
  }

  private static Mono<Said> silent() {
    return Mono.error(() -> new UnavailableException("it was silent for " + Durations.print(PATIENCE)));
  }

  private static Mono<Said> said(Member member, ClusterLink link) {
    return link.members().map(own -> new Doctor.Answer(member, own, ""))
        .flatMap(answer -> link.tasks().map(tasks -> new Said(answer, tasks, ""))
            .onErrorResume(failure -> Mono.just(new Said(answer, null, ClusterSight.reason(failure)))));
  }
}
