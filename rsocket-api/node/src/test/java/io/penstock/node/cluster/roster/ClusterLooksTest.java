package io.penstock.node.cluster.roster;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.node.link.ClusterLink;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.wire.cluster.ClusterDirectory;
import io.penstock.wire.cluster.ClusterTask;
import io.penstock.wire.cluster.ClusterTasks;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.TaskOrder;
import io.penstock.wire.transport.Endpoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Looks in virtual time; node `m0` looks.
final class ClusterLooksTest {
  private final VirtualTimeScheduler timers = VirtualTimeScheduler.create();
  private final Map<String, ClusterLink> links = new HashMap<>();
  private final List<String> asked = new ArrayList<>();

  private static Member member(int number, String... endpoints) {
    return new Member("m" + number, number, List.of(endpoints), "", Member.State.UP, new Member.Figures(1, 2, 0));
  }

  /// A member behind an endpoint; null answers never come.
  private record Behind(ClusterView view, List<ClusterTask> own) implements ClusterLink {
    @Override
    public Mono<ClusterView> members() {
      return view == null ? Mono.never() : Mono.just(view);
    }

    @Override
    public Mono<List<ClusterTask>> tasks() {
      return own == null ? Mono.error(new IllegalArgumentException("role must be reader")) : Mono.just(own);
    }

    @Override
    public Mono<ClusterTask> start(TaskOrder order) {
      throw new AssertionError("a look must start nothing");
    }

    @Override
    public Mono<Boolean> cancel(String id) {
      throw new AssertionError("a look must end nothing");
    }
  }

  private static ClusterTask task(String id) {
    return new ClusterTask(id, id.substring(0, 2), new TaskOrder(TaskOrder.Kind.DRAIN, "", "", 0),
        ClusterTask.State.RUNNING, 1, 1, 1, "");
  }

  private ClusterLooks looks(Member... members) {
    ClusterDirectory directory = new ClusterDirectory() {
      @Override
      public String cluster() {
        return "kv";
      }

      @Override
      public List<Member> members() {
        return Arrays.asList(members);
      }

      @Override
      public Mono<Located> locate(List<BlockKey> keys) {
        throw new AssertionError("a look must locate nothing");
      }
    };
    ClusterTasks own = new ClusterTasks() {
      @Override
      public ClusterTask start(TaskOrder order, KeyFilter which) {
        throw new AssertionError("a look must start nothing");
      }

      @Override
      public List<ClusterTask> tasks() {
        return List.of(task("m0/1"));
      }

      @Override
      public boolean cancel(String id) {
        throw new AssertionError("a look must end nothing");
      }
    };
    return new ClusterLooks(new ClusterLooks.Terms(directory, "m0", own, name -> Optional.of(Duration.ofSeconds(3)),
        this::link, timers));
  }

  private ClusterLink link(Endpoint place) {
    asked.add(place.toString());
    return links.getOrDefault(place.toString(), new Behind(null, null));
  }

  private ClusterSight seen(ClusterLooks looks, Duration wait) {
    AtomicReference<ClusterSight> sight = new AtomicReference<>();
    looks.look().subscribe(sight::set);
    timers.advanceTimeBy(wait);
    assertThat(sight.get()).isNotNull();
    return sight.get();
  }

  private static List<String> found(ClusterSight sight) {
    return sight.findings().stream().map(each -> each.node() + " " + each.what()).toList();
  }

  @Test
  void members_areAskedOnce_howeverManyLook() {
    Member zero = member(0, "h:1");
    Member one = member(1, "h:2");
    links.put("h:2", new Behind(new ClusterView("kv", List.of(zero, one)), List.of(task("m1/1"))));
    ClusterLooks looks = looks(zero, one);

    ClusterSight first = seen(looks, Duration.ZERO);
    ClusterSight again = seen(looks, ClusterLooks.FRESH.minusMillis(1));
    assertThat(again).isSameAs(first);
    assertThat(asked).as("itself is not asked over the wire").containsExactly("h:2");
    timers.advanceTimeBy(Duration.ofMillis(1));
    assertThat(seen(looks, Duration.ZERO)).isNotSameAs(first);
    assertThat(asked).hasSize(2);

    assertThat(first.tasks().stream().map(Tasks.Shown::id)).containsExactly("m0/1", "m1/1");
    assertThat(found(first)).isEmpty();
    assertThat(first.toldAgo("m1")).isEqualTo(Duration.ofSeconds(3));
  }

  @Test
  void memberThatIsSilent_isAskedAtItsNextEndpoint_andIsFoundIfNoneAnswers() {
    Member zero = member(0, "h:1");
    Member near = member(1, "h:2", "h:3");
    Member silent = member(2, "h:4", "no endpoint");
    Member nowhere = member(3);
    List<Member> all = List.of(zero, near, silent, nowhere);
    links.put("h:3", new Behind(new ClusterView("kv", all), null));

    ClusterSight sight = seen(looks(zero, near, silent, nowhere), ClusterLooks.PATIENCE);

    assertThat(asked).containsExactly("h:2", "h:4", "h:3");
    assertThat(found(sight).subList(0, 2)).satisfiesExactly(
        two -> assertThat(two).startsWith("m2 does not answer ("),
        three -> assertThat(three).isEqualTo("m3 does not answer (it tells no endpoint)"));
    assertThat(found(sight)).endsWith("m1 does not tell its tasks (role must be reader)");
  }

  @Test
  void look_atManyMembersThatAreSilent_ends_andSaysHowManyItAsked() {
    Member[] all = IntStream.range(0, 200).mapToObj(i -> member(i, "h:" + (1 + i))).toArray(Member[]::new);

    ClusterSight sight = seen(looks(all), ClusterLooks.LONGEST);

    assertThat(sight.asked()).isBetween(32, 80);
    assertThat(found(sight)).hasSize(sight.asked() - 1);
  }
}
