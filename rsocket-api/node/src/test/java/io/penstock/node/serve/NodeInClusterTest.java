package io.penstock.node.serve;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.node.AdminRequest;
import io.penstock.node.CommandLineRun;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.cluster.Clusters;
import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.ClusterSettings;
import io.penstock.node.config.KvEventSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.kvevents.KvIndex;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.testkit.Eventually;
import io.penstock.wire.cluster.Member;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Nodes as members of a cluster whose engine is [FakeClusters].
@Timeout(60)
final class NodeInClusterTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final int BLOCK_BYTES = 4096;

  @TempDir
  private Path folder;

  private final List<Node> nodes = new ArrayList<>();

  @AfterEach
  void close() {
    nodes.forEach(node -> node.close().block(SOON));
  }

  private static NodeConfig config(Map<Setting<?>, String> more) {
    Map<Setting<?>, String> flags = new HashMap<>(Map.of(NodeSettings.LISTEN_PORT, "0", AdminSettings.PORT, "0",
        ClusterSettings.PORT, "0", NodeSettings.DRAM, "1MiB", LayoutSettings.BLOCK_BYTES, "4KiB"));
    flags.putAll(more);
    return NodeConfig.resolve(null, Map.of(), flags);
  }

  private Node start(Map<Setting<?>, String> more) {
    Node node = requireNonNull(Node.start(config(more)).block(SOON));
    nodes.add(node);
    return node;
  }

  private static CommandLineRun at(Node node, String... arguments) {
    CommandLineRun run = CommandLineRun.with(Map.of("PENSTOCK_BLOCK_BYTES", "4KiB"), new byte[0],
        Stream.concat(Stream.of(arguments), Stream.of("--connect", "127.0.0.1:" + node.port())).toArray(String[]::new));
    assertThat(run.exitCode()).as(run.err()).isZero();
    return run;
  }

  private static JsonNode page(Node node, String path) throws Exception {
    return JsonMapper.shared().readTree(AdminRequest.get(node.adminPort().orElseThrow(), path).body());
  }

  @Test
  void members_knowEachOther_andWhoHasWhichBlock() throws Exception {
    Node one = start(Map.of(ClusterSettings.CLUSTER, "pair", ClusterSettings.NODE_NAME, "one",
        ClusterSettings.PLACE, "zone1/rack7"));
    Node other = start(Map.of(ClusterSettings.CLUSTER, "pair"));
    at(one, "put", "--count", "4");
    FakeClusters.One first = FakeClusters.of("pair").getLast();

    Eventually.holds("the cluster knows the blocks", () -> first.visible().size() == 4);
    Eventually.holds("the figures were told", () -> first.terms.figures().get().bytes() == 4 * BLOCK_BYTES);
    Member.Figures figures = first.terms.figures().get();
    assertThat(figures)
        .isEqualTo(new Member.Figures(4 * BLOCK_BYTES, 1 << 20, 0, figures.idleMillis())); // the age of the oldest
    JsonNode members = page(other, "/cluster");
    assertThat(members.get("cluster").asString()).isEqualTo("pair");
    assertThat(members.at("/totals").toString()).isEqualTo("{\"members\":2,\"draining\":0,\"bytes\":16384,"
        + "\"capacityBytes\":2097152,\"inFlightBytes\":0}");
    assertThat(members.at("/members/1/name").asString()).isEqualTo("one");
    assertThat(members.at("/members/1/place").asString()).isEqualTo("zone1/rack7");
    assertThat(members.at("/members/1/endpoints/0").asString()).isEqualTo("127.0.0.1:" + one.port());
    assertThat(members.at("/members/0/name").asString()).as("named as clients reach it")
        .isEqualTo("127.0.0.1:" + other.port());
    assertThat(AdminRequest.get(one.adminPort().orElseThrow(), "/metrics").body())
        .contains("penstock_cluster_members{state=\"up\"} 2.0", "penstock_cluster_members{state=\"draining\"} 0.0",
            "penstock_cluster_unanswered_total 7.0");
    assertThat(AdminRequest.get(one.adminPort().orElseThrow(), "/").body()).contains("/cluster");
    assertThat(Ready.of(one, config(Map.of(ClusterSettings.CLUSTER, "pair"))).sentence())
        .contains("\nmember one of cluster pair at 127.0.0.1:7801\n");
  }

  @Test
  void aNodeThatItsCluster_doesNotTakeAnyMore_saysWhy() {
    Node node = start(Map.of(ClusterSettings.CLUSTER, "merged", ClusterSettings.NODE_NAME, "one"));
    IOException taken = new IOException("node name must be unique");
    FakeClusters.of("merged").getFirst().refusal.tryEmitValue(taken);
    assertThat(node.refusal().block(SOON)).isEqualTo(taken);
  }

  @Test
  void clientCommands_useAllMembersAsOneNode() throws Exception {
    Node one = start(Map.of(ClusterSettings.CLUSTER, "whole", ClusterSettings.NODE_NAME, "one"));
    Node other = start(Map.of(ClusterSettings.CLUSTER, "whole", ClusterSettings.NODE_NAME, "other"));
    List<String> keys = new ArrayList<>();
    for (int seed = 0; seed < 8; seed++) { // each put goes to one of them
      keys.addAll(at(one, "put", "--cluster", "--count", "3", "--seed", "" + 100 * seed).out().lines().toList());
    }
    keys.removeIf(line -> !line.contains(":") || line.contains(" "));
    Path list = Files.write(folder.resolve("keys"), keys);

    assertThat(keys).hasSizeGreaterThanOrEqualTo(24);
    List<FakeClusters.One> members = FakeClusters.of("whole");
    Eventually.holds("the cluster knows the blocks",
        () -> members.stream().mapToInt(member -> member.visible().size()).sum() == 24);
    assertThat(members).hasSize(2).allMatch(member -> !member.visible().isEmpty());
    at(other, "get", "--cluster", "--keys-from", list.toString(), "--discard", "--verify");
    CommandLineRun events = at(one, "events", "--cluster", "--snapshot", "--limit", "26", "--json");
    assertThat(events.out()).contains("\"one dram\"", "\"other dram\"", "\"snapshotEnd\"");
    CommandLineRun alone = CommandLineRun.of("stat", "--cluster", "--connect", "127.0.0.1:" + one.port());
    assertThat(alone.exitCode()).isEqualTo(2);
    assertThat(alone.err()).contains("--cluster must be left out for a question about one node (was given)");
  }

  @Test
  void kvEvents_areThoseOfAllMembers_ifTheNodeIsToldSo() throws Exception {
    Node one = start(Map.of(ClusterSettings.CLUSTER, "told", ClusterSettings.NODE_NAME, "one", KvEventSettings.OF,
        "cluster", KvEventSettings.PORT, "0", KvEventSettings.REPLAY_PORT, "0"));
    Node other = start(Map.of(ClusterSettings.CLUSTER, "told", ClusterSettings.NODE_NAME, "other"));
    Ready.KvEvents stream = Ready.of(one, config(Map.of(ClusterSettings.CLUSTER, "told"))).kvEvents().getFirst();
    try (KvIndex index = new KvIndex(stream.port(), requireNonNull(stream.replayPort()), "")) {
      at(other, "put", "--count", "4");
      at(one, "put", "--count", "2", "--seed", "200");
      Eventually.holds("the index knows the blocks of both", () -> read(index) == 6);
      at(other, "remove", "--all");
      Eventually.holds("the index knows that those of one are gone", () -> read(index) == 2);
    }
  }

  private static int read(KvIndex index) {
    index.replay();
    index.read(0);
    return index.media().size();
  }

  @Test
  void clientCommands_ofAClusterAtANodeInNone_sayWhatItLacks() {
    Node node = start(Map.of(ClusterSettings.PORT, "7800"));
    CommandLineRun run = CommandLineRun.with(Map.of("PENSTOCK_BLOCK_BYTES", "4KiB"), new byte[0], "put", "--cluster",
        "--count", "1", "--connect", "127.0.0.1:" + node.port());
    assertThat(run.exitCode()).isEqualTo(69);
    assertThat(run.err()).contains("cluster must be a name in the settings of the node at 127.0.0.1:");
  }

  @Test
  void clusterStat_asksAnyMember() throws Exception {
    Node node = start(Map.of(ClusterSettings.CLUSTER, "asked", ClusterSettings.NODE_NAME, "n1"));
    start(Map.of(ClusterSettings.CLUSTER, "asked", ClusterSettings.NODE_NAME, "n2"));
    String address = "127.0.0.1:" + node.port();

    CommandLineRun shown = cluster(0, "stat", address);
    CommandLineRun json = CommandLineRun.of("cluster", "stat", address, "--json");

    assertThat(shown.out()).startsWith("cluster asked: 2 members; 0 B of 2.00 MiB, 0 B in flight\n")
        .containsPattern("\nup +0 B +1.00 MiB +0 B  n1, at " + address + ", generation\n? *\\d+\n")
        .containsPattern("\nup +0 B +1.00 MiB +0 B  n2, at ");
    assertThat(json.exitCode()).as(json.err()).isZero();
    JsonNode page = page(node, "/cluster");
    JsonNode stat = JsonMapper.shared().readTree(json.out());
    for (String part : List.of("cluster", "members", "totals")) {
      assertThat(stat.get(part)).as(part).isEqualTo(page.get(part));
    }
  }

  @Test
  void clusterPage_isForPeopleWhereABrowserAsks_andForMachinesElse() throws Exception {
    Node node = start(Map.of(ClusterSettings.CLUSTER, "seen", ClusterSettings.NODE_NAME, "<i>n1"));
    Node other = start(Map.of(ClusterSettings.CLUSTER, "seen", ClusterSettings.NODE_NAME, "n2"));
    at(other, "put", "--count", "3");
    Eventually.holds("the figures were told",
        () -> FakeClusters.of("seen").getLast().terms.figures().get().bytes() == 3 * BLOCK_BYTES);
    cluster(0, "drain", "n2", told(node));
    cluster(0, "resume", "n2", told(node));
    int admin = node.adminPort().orElseThrow();

    var page = AdminRequest.get(admin, "/cluster", "text/html,application/xhtml+xml,*/*;q=0.8");
    JsonNode json = JsonMapper.shared().readTree(AdminRequest.get(admin, "/cluster.json", "text/html").body());

    assertThat(page.headers().firstValue("content-type")).contains("text/html; charset=utf-8");
    assertThat(page.body()).startsWith("<!doctype html>").endsWith("</html>\n").doesNotContain("<i>n1")
        .contains("&lt;i&gt;n1", "nothing is wrong", "<td>n2/1</td><td>drain</td><td>done</td>", "1.5 s ago",
            "All members were asked.");
    assertThat(json.at("/node").asString()).isEqualTo("<i>n1");
    assertThat(json.at("/asked").asInt()).isEqualTo(2);
    assertThat(json.at("/toldMillisAgo/n2").asInt()).isEqualTo(1500);
    assertThat(json.at("/findings").toString()).isEqualTo("[]");
    assertThat(json.at("/tasks/0/id").asString()).isEqualTo("n2/1");
    assertThat(json.at("/tasks/1/kind").asString()).isEqualTo("resume");
    assertThat(AdminRequest.get(admin, "/cluster", "application/json, text/html").body()).startsWith("{\"cluster\":");
  }

  @Test
  void clusterStat_atANodeInNoCluster_saysWhatItLacks() throws Exception {
    Node node = start(Map.of(ClusterSettings.PORT, "7800"));
    CommandLineRun run = CommandLineRun.of("cluster", "stat", "127.0.0.1:" + node.port());

    assertThat(run.exitCode()).isEqualTo(69);
    assertThat(run.err()).isEqualTo(("cluster stat: cluster must be a name in the settings of the node at 127.0.0.1:%d,"
        + " as serve --cluster NAME sets it (was none)\n").formatted(node.port()));
    assertThat(AdminRequest.get(node.adminPort().orElseThrow(), "/cluster").statusCode()).isEqualTo(404);
    assertThat(AdminRequest.get(node.adminPort().orElseThrow(), "/").body()).doesNotContain("/cluster");
    assertThat(AdminRequest.get(node.adminPort().orElseThrow(), "/metrics").body()).doesNotContain("cluster_members");
  }

  @Test
  void spaceThatAClientOpens_isToldToo() {
    Node node = start(Map.of(ClusterSettings.CLUSTER, "open", NodeSettings.SPACES_OPEN, "true",
        NodeSettings.RESERVE_BLOCKS, "64"));
    FakeClusters.One member = FakeClusters.of("open").getFirst();
    assertThat(member.tiers()).containsExactly("main");

    at(node, "put", "--model", "other", "--count", "3");

    Eventually.holds("the cluster knows the blocks", () -> member.visible().size() == 3);
    assertThat(member.tiers()).hasSize(2).contains("main");
  }

  @Test
  void drain_isToldFirst_andTheNodeLeavesBeforeItIsDeaf() {
    Node node = start(Map.of(ClusterSettings.CLUSTER, "drained"));
    FakeClusters.One member = FakeClusters.of("drained").getFirst();

    assertThat(node.drain().block(SOON)).isTrue();

    assertThat(member.told).containsExactly("DRAINING, listens", "no more of dram", "left, listens");
    assertThat(FakeClusters.of("drained")).isEmpty();
  }

  private static String told(Node node) {
    return "127.0.0.1:" + node.port();
  }

  private static CommandLineRun cluster(int code, String... arguments) {
    CommandLineRun run = CommandLineRun.of(
        Stream.concat(Stream.of("cluster"), Stream.of(arguments)).toArray(String[]::new));
    assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(code);
    assertThat(run.out().lines().filter(line -> !line.startsWith("[{")))
        .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
    return run;
  }

  private static void awaitBlocks(String name, int one, int other) {
    Eventually.holds("members have their blocks", () -> FakeClusters.of(name).stream()
        .map(each -> each.visible().size()).toList().equals(List.of(one, other)),
        () -> FakeClusters.of(name).stream()
            .map(each -> each.visible().size()).toList().toString());
  }

  @Test
  void drainedMember_givesItsBlocks_untilItResumes() throws Exception {
    Node one = start(Map.of(ClusterSettings.CLUSTER, "given", ClusterSettings.NODE_NAME, "a"));
    Node other = start(Map.of(ClusterSettings.CLUSTER, "given", ClusterSettings.NODE_NAME, "b"));
    at(one, "put", "--count", "20");
    awaitBlocks("given", 20, 0);

    assertThat(cluster(0, "drain", "a", told(other)).out())
        .containsPattern("drain +done +20 +80.0 KiB +0  a/1\n");
    at(other, "get", "--trace-id", "0-19", "--discard");
    awaitBlocks("given", 0, 20);
    assertThat(cluster(0, "stat", told(one)).out()).contains("2 members, 1 draining;");
    assertThat(cluster(1, "doctor", told(one)).out()).contains("a is draining and takes no new blocks");
    assertThat(cluster(0, "resume", "a", told(other), "--json").out()).contains("\"kind\":\"resume\",")
        .contains("\"state\":\"done\"");
    assertThat(cluster(0, "stat", told(one)).out()).contains("2 members; ");
    assertThat(cluster(0, "tasks", told(other)).out()).containsPattern("drain .* a/1\n")
        .containsPattern("resume .* a/2");
    assertThat(cluster(1, "cancel", "a/1", told(other)).out()).isEqualTo("a/1 does not run\n");
  }

  @Test
  void copiesMovesAndRemovals_areOfThePattern_andAtTheMembersMeant() throws Exception {
    Node one = start(Map.of(ClusterSettings.CLUSTER, "picked", ClusterSettings.NODE_NAME, "a"));
    start(Map.of(ClusterSettings.CLUSTER, "picked", ClusterSettings.NODE_NAME, "b"));
    at(one, "put", "--count", "12");
    awaitBlocks("picked", 12, 0);

    cluster(0, "copy", told(one), "--to", "b");
    awaitBlocks("picked", 12, 12);
    cluster(0, "remove", told(one), "--pattern", ".", "--from", "a");
    awaitBlocks("picked", 0, 12);
    cluster(0, "move", told(one), "--to", "a", "--rate", "1MiB");
    awaitBlocks("picked", 12, 0);
    cluster(0, "remove", told(one), "--regex", "no hex");
    awaitBlocks("picked", 12, 0);
    cluster(0, "rebalance", told(one));

    assertThat(CommandLineRun.of("cluster", "remove", told(one)).exitCode()).as("a removal must say of what")
        .isEqualTo(2);
    assertThat(cluster(69, "move", told(one), "--to", "c").err())
        .isEqualTo("cluster move: node must be a member, one of a, b (was c)\n");
  }

  @Test
  void taskThatIsLeftRunning_canBeSeenAndCancelled() throws Exception {
    Node one = start(Map.of(ClusterSettings.CLUSTER, "slow", ClusterSettings.NODE_NAME, "a"));
    Node other = start(Map.of(ClusterSettings.CLUSTER, "slow", ClusterSettings.NODE_NAME, "b"));
    at(one, "put", "--count", "200");

    assertThat(cluster(0, "drain", "a", told(other), "--no-wait", "--rate", "4KiB").out()).contains("running");
    assertThat(cluster(0, "tasks", told(other), "--json").out()).contains("\"id\":\"a/1\"", "\"state\":\"running\"");
    assertThat(cluster(0, "cancel", "a/1", told(other)).out()).isEqualTo("cancelled a/1\n");
    assertThat(FakeClusters.of("slow").getFirst().told).last().asString().startsWith("UP");
  }

  @Test
  void terms_areThoseOfTheSettings() throws Exception {
    Path secret = Files.writeString(folder.resolve("secret"), "correct horse battery\n");
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
    start(Map.of(ClusterSettings.CLUSTER, "terms", ClusterSettings.SEEDS, "a.test:7800, [::1]:7801,a.test:7800",
        ClusterSettings.HOST, "localhost", ClusterSettings.SECRET, secret.toString()));

    var terms = FakeClusters.of("terms").getFirst().terms;

    assertThat(terms.seeds()).containsExactly("a.test:7800", "[::1]:7801");
    assertThat(terms.host()).isEqualTo("localhost");
    assertThat(terms.secret()).asString(StandardCharsets.UTF_8).isEqualTo("correct horse battery");
    assertThat(terms.generation()).isPositive();
    assertThat(terms.place()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "taken-port | cluster.port must be free for this user at 127.0.0.1 (was 0, from --cluster-port): Address already in"
        + " use; --cluster-port 0 takes any that is free",
    "no-seed | cluster.seeds must be of names that have an address (was seed.test:1, from --cluster-seeds): no address"
        + " is known for seed.test",
    "strict | cluster must be one that this node can join (was strict, from --cluster): secret must be that of its"
        + " members"
  })
  void clusterThatCannotBeJoined_endsTheStart(String cluster, String said) {
    CommandLineRun run = CommandLineRun.of("serve", "--listen-port", "0", "--admin-port", "0", "--cluster", cluster,
        "--cluster-port", "0", "--seeds", "seed.test:1");

    assertThat(run.exitCode()).as(run.err()).isEqualTo(74);
    assertThat(run.err()).isEqualTo("serve: " + said + "\n");
  }

  @Test
  void portThatAnotherProcessHas_isRefusedBeforeADiskIsTouched() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
      Path disk = folder.resolve("disk");
      assertThatThrownBy(() -> start(Map.of(ClusterSettings.CLUSTER, "busy", ClusterSettings.PORT,
          String.valueOf(taken.getLocalPort()), NodeSettings.SSD, "8MiB", NodeSettings.SSD_DIR, disk.toString())))
          .hasRootCauseInstanceOf(IOException.class)
          .hasMessageContaining("cluster.port must be free for this user at 127.0.0.1");
      assertThat(disk).doesNotExist();
    }
  }

  @Test
  void secretFile_thatIsShortOrOpen_isRefused() throws Exception {
    Path secret = Files.writeString(folder.resolve("secret"), "short\n");
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
    Map<Setting<?>, String> flags = Map.of(ClusterSettings.CLUSTER, "kept", ClusterSettings.SECRET, secret.toString());
    assertThatThrownBy(() -> start(flags)).hasMessage("cluster.secret.file must have a secret of at least 16 characters"
        + " in its first line (has 5: " + secret + ")");

    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-r--r--"));
    assertThatThrownBy(() -> start(flags)).hasMessageStartingWith(
        "cluster.secret.file must be closed to other users, rw------- for example (was rw-r--r--: ");
    assertThat(FakeClusters.of("kept")).isEmpty();
  }

  /// Hides the engines on the class path, and counts who looks for one.
  private static final class Bare extends ClassLoader {
    final AtomicInteger looks = new AtomicInteger();

    Bare(ClassLoader parent) {
      super(parent);
    }

    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
      if (!name.equals("META-INF/services/" + Clusters.class.getName())) {
        return super.getResources(name);
      }
      looks.incrementAndGet();
      return Collections.emptyEnumeration();
    }
  }

  private Node startWith(Bare loader, Map<Setting<?>, String> flags) {
    Thread current = Thread.currentThread();
    ClassLoader before = current.getContextClassLoader();
    current.setContextClassLoader(loader);
    try {
      return start(flags);
    } finally {
      current.setContextClassLoader(before);
    }
  }

  @Test
  void engine_isLookedForByANodeInAClusterAlone_andNamedWhereItLacks() {
    Bare loader = new Bare(getClass().getClassLoader());

    startWith(loader, Map.of(ClusterSettings.PORT, "7800"));
    assertThat(loader.looks).hasValue(0);

    assertThatThrownBy(() -> startWith(loader, Map.of(ClusterSettings.CLUSTER, "c")))
        .isInstanceOf(UnavailableException.class)
        .hasMessage(
            "cluster must be none without the artifact io.penstock:penstock-cluster on the class path, which has"
                + " the engine of clusters (was c, from --cluster)");
    assertThat(loader.looks).hasPositiveValue();
  }
}
