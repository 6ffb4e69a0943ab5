package io.penstock.disagg.plan;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane;
import io.penstock.disagg.plan.Manifest.Group;
import io.penstock.disagg.plan.TokenPieces.Side;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/// Plans transfers between one prefill and one decode instance. Equal arguments give equal plans, on any machine.
///
/// The cache of a token on one rank is the intersection of its layers (pipeline stage), its heads (tensor parallelism)
/// and its blocks (context parallelism). A transfer is the intersection of such a set of a decode rank with one of a
/// prefill rank; [ReplicaChoice] chooses among equal prefill ranks. So any two sides of one model fit, with blocks of
/// any size, as long as each side by itself is consistent.
public final class Planner {
  private final Manifest prefill;
  private final Manifest decode;

  /// @throws PlanRefusedException if the sides do not keep the cache of one model, or one of them splits a sequence
  ///     over ranks that keep different heads
  public Planner(Manifest prefill, Manifest decode) {
    this.prefill = requireNonNull(prefill, "prefill");
    this.decode = requireNonNull(decode, "decode");
    equal("model", prefill.model(), decode.model());
    equal("groups", prefill.groups().size(), decode.groups().size());
    equal("draftLayers", prefill.draftLayers(), decode.draftLayers());
    for (int group = 0; group < prefill.groups().size(); group++) {
      equal(group, prefill.groups().get(group), decode.groups().get(group));
      requireHeads("prefill", prefill, group);
      requireHeads("decode", decode, group);
    }
  }

  private static void requireHeads(String name, Manifest side, int group) {
    try {
      side.heads(group);
    } catch (PlanRefusedException e) {
      throw e.of(name);
    }
  }

  private static void equal(int number, Group prefill, Group decode) {
    String group = "groups[" + number + "].";
    equal(group + "layers", prefill.layers(), decode.layers());
    equal(group + "windowTokens", prefill.windowTokens(), decode.windowTokens());
    equal(group + "state", prefill.isState(), decode.isState());
    List<Plane> planes = prefill.layout().planes();
    List<Plane> others = decode.layout().planes();
    equal(group + "planes", planes.stream().map(Plane::kind).toList(), others.stream().map(Plane::kind).toList());
    equal(group + "kvHeads", prefill.heads(), decode.heads());
    for (int i = 0; i < planes.size(); i++) {
      String plane = group + "planes[" + i + "].";
      equal(plane + "type", planes.get(i).type(), others.get(i).type());
      equal(plane + "width", planes.get(i).width(), others.get(i).width());
    }
  }

  private static void equal(String field, Object prefill, Object decode) {
    if (!prefill.equals(decode)) {
      throw PlanRefusedException.unequal(field, prefill, decode);
    }
  }

  /// The plan of a request; replicas are chosen by its id.
  public TransferPlan plan(KvRequest request) {
    return plan(request, ReplicaChoice.byRequest(request.id()));
  }

  /// The plan of a request with replicas that are chosen by another rule, which both sides must share.
  public TransferPlan plan(KvRequest request, ReplicaChoice choice) {
    List<TokenPieces> tokens =
        IntStream.range(0, prefill.groups().size()).mapToObj(group -> pieces(group, request)).toList();
    List<Transfer> transfers = new ArrayList<>();
    for (Rank reader : decode.parallelism().allRanks()) {
      for (int group = 0; group < tokens.size(); group++) {
        if (prefill.groups().get(group).isState()) {
          addState(transfers, reader, group, request, choice);
          continue;
        }
        add(transfers, reader, group, tokens.get(group), request, choice);
      }
    }
    return new TransferPlan(prefill, decode, request, transfers);
  }

  private TokenPieces pieces(int group, KvRequest request) {
    int end = prefill.groups().get(group).isState() ? 0 : request.promptTokens();
    BlockLayout source = prefill.groups().get(group).layout();
    BlockLayout destination = decode.groups().get(group).layout();
    return new TokenPieces(new Side(source.tokens(), prefill.parallelism().contextRanks()),
        new Side(destination.tokens(), decode.parallelism().contextRanks()), firstToken(group, request),
        end);
  }

  /// Index of the first token to move. Tokens before the sliding window of the token behind the prompt are not moved,
  /// except for the start of the smaller block that the window begins in.
  private int firstToken(int group, KvRequest request) {
    int window = prefill.groups().get(group).windowTokens();
    int block = Math.min(prefill.groups().get(group).layout().tokens(), decode.groups().get(group).layout().tokens());
    int needed = window == 0 ? 0 : Math.max(0, request.promptTokens() - window + 1) / block * block;
    return Math.max(needed, request.cachedTokens());
  }

  /// The transfers of one reader and group: by context rank of the source, the one that has the end of the prompt last;
  /// then by stage; then by head.
  private void add(List<Transfer> transfers, Rank reader, int group, TokenPieces tokens, KvRequest request,
      ReplicaChoice choice) {
    Parallelism sources = prefill.parallelism();
    List<HeadRoute> routes = HeadRoute.of(prefill.heads(group), decode.heads(group), reader.tp(), choice);
    int contextRanks = sources.contextRanks();
    int blocks = Math.ceilDiv(request.promptTokens(), prefill.groups().get(group).layout().tokens());
    int last = Math.floorMod(blocks - 1, contextRanks);
    List<Optional<Extent>> stages =
        IntStream.range(0, sources.pp()).mapToObj(stage -> layers(group, stage, reader.stage())).toList();
    for (int contextRank : endingWith(last, contextRanks)) {
      List<TokenPiece> pieces = tokens.between(contextRank, decode.parallelism().contextRank(reader));
      for (int stage = 0; !pieces.isEmpty() && stage < sources.pp(); stage++) {
        Optional<Extent> layers = stages.get(stage);
        for (HeadRoute route : layers.isPresent() ? routes : List.<HeadRoute>of()) {
          Rank source = new Rank(stage, contextRank / sources.dcp(),
              route.rank(prefill.heads(group), contextRank % sources.dcp()));
          transfers.add(new Transfer(group, source, reader, layers.get(), route.heads(), pieces));
        }
      }
    }
  }

  /// A state is moved whole unless the reader has all of the prompt. It comes from the ranks that have the end of the
  /// prompt.
  private void addState(List<Transfer> transfers, Rank reader, int group, KvRequest request, ReplicaChoice choice) {
    if (request.cachedTokens() == request.promptTokens()) {
      return;
    }
    List<TokenPiece> whole = List.of(new TokenPiece(0, 0, 0, 0, request.promptTokens() - 1, 1));
    HeadShards heads = prefill.heads(group);
    int pcp = contextRankOfEnd(request) / prefill.parallelism().dcp();
    for (int stage = 0; stage < prefill.parallelism().pp(); stage++) {
      Optional<Extent> layers = layers(group, stage, reader.stage());
      if (layers.isPresent()) {
        for (HeadRoute route : HeadRoute.of(heads, decode.heads(group), reader.tp(), choice)) {
          transfers.add(new Transfer(group, new Rank(stage, pcp, route.rank(heads, 0)), reader, layers.get(),
              route.heads(), whole));
        }
      }
    }
  }

  private int contextRankOfEnd(KvRequest request) {
    int tokens = prefill.groups().stream().filter(group -> !group.isState()).findFirst()
        .map(group -> group.layout().tokens()).orElse(request.promptTokens());
    return (Math.ceilDiv(request.promptTokens(), tokens) - 1) % prefill.parallelism().contextRanks();
  }

  /// All numbers below `count` in their order, with `last` moved to the end.
  static int[] endingWith(int last, int count) {
    return IntStream.concat(IntStream.range(0, count).filter(i -> i != last), IntStream.of(last)).toArray();
  }

  private Optional<Extent> layers(int group, int sourceStage, int destinationStage) {
    int source = prefill.firstLayer(group, sourceStage);
    int destination = decode.firstLayer(group, destinationStage);
    int first = Math.max(source, destination);
    int end = Math.min(prefill.firstLayer(group, sourceStage + 1), decode.firstLayer(group, destinationStage + 1));
    return first >= end
        ? Optional.empty()
        : Optional.of(new Extent(first, end - first, first - source, first - destination));
  }
}
