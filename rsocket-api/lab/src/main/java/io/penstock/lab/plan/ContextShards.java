package io.penstock.lab.plan;

import io.penstock.disagg.plan.HeadShards;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.ReplicaChoice;
import io.penstock.disagg.plan.TokenPiece;
import io.penstock.disagg.plan.TransferPlan;
import io.penstock.node.plan.Fields;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/// A plan under context parallelism in the form of an engine: by context rank of the source, with ports and kernel
/// blocks. An engine also pulls from ranks that have nothing to give, to tell them that it is done; a plan releases
/// those.
final class ContextShards {
  private final TransferPlan plan;
  private final ReplicaChoice choice;
  private final Parallelism prefill;
  private final Parallelism decode;
  private final int firstPort;
  private final int prefillTokens;
  private final int decodeTokens;
  private final int kernelTokens;
  private final int cachedBlocks;
  private final List<Integer> sourceIds;
  private final List<Integer> destinationIds;

  ContextShards(TransferPlan plan, ReplicaChoice choice, Fields input) {
    this.plan = plan;
    this.choice = choice;
    this.prefill = plan.prefill().parallelism();
    this.decode = plan.decode().parallelism();
    this.firstPort = input.at("prefill").count("base_port");
    this.prefillTokens = plan.prefill().groups().getFirst().layout().tokens();
    this.decodeTokens = plan.decode().groups().getFirst().layout().tokens();
    this.kernelTokens = decodeTokens / Math.max(1, input.at("decode").count("kernel_block_scale"));
    if (kernelTokens < 1 || decodeTokens % kernelTokens != 0 || prefillTokens % kernelTokens != 0) {
      throw new IllegalArgumentException("kernel blocks must divide the blocks of both sides (was %d, %d, %d)"
          .formatted(kernelTokens, prefillTokens, decodeTokens));
    }
    this.cachedBlocks = plan.request().cachedTokens() / decodeTokens;
    this.sourceIds = input.integers("remote_block_ids");
    this.destinationIds = input.integers("local_block_ids");
  }

  List<Map<String, Object>> of(Rank reader) {
    List<Map<String, Object>> shards = new ArrayList<>();
    for (int contextRank : contextRanks(reader)) {
      List<Rank> sources = sources(reader, contextRank);
      List<TokenPiece> pieces = TopologyRules.pieces(plan, sources.getFirst(), reader).stream()
          .filter(piece -> index(piece, reader) < destinationIds.size()).toList();
      shards.add(Map.of("ports", sources.stream().map(this::port).toList(), "pulls", pulls(sources.size()),
          "local_kernel_blocks", pieces.stream().flatMap(piece -> kernels(piece,
              destinationIds.get(index(piece, reader)), decodeTokens, piece.destinationToken()).boxed()).toList(),
          "remote_kernel_blocks", pieces.stream().flatMap(piece -> kernels(piece,
              sourceId(piece), prefillTokens, piece.sourceToken()).boxed()).toList()));
    }
    return shards;
  }

  /// Number of requests to each port, those of empty shards counted.
  Map<String, Integer> pullsByPort() {
    Map<String, Integer> pulls = new LinkedHashMap<>();
    prefill.allRanks().forEach(rank -> pulls.put("" + port(rank), 0));
    for (Rank reader : decode.allRanks()) {
      for (int contextRank : contextRanks(reader)) {
        sources(reader, contextRank).forEach(source -> pulls.merge("" + port(source), 1, Integer::sum));
      }
    }
    return pulls;
  }

  /// Context ranks of the source whose blocks can belong to a reader; the one with the end of the prompt comes last.
  private int[] contextRanks(Rank reader) {
    int ratio = Math.max(1, decodeTokens / prefillTokens);
    int blocks = plan.request().promptTokens() / prefillTokens;
    int last = Math.floorMod(blocks - 1, prefill.contextRanks());
    return IntStream.concat(IntStream.range(0, prefill.contextRanks()).filter(rank -> rank != last),
        IntStream.of(last)).filter(rank -> rank / ratio % decode.contextRanks() == decode.contextRank(reader))
        .toArray();
  }

  /// The ranks that keep the heads of a reader for one context rank.
  private List<Rank> sources(Rank reader, int contextRank) {
    HeadShards source = plan.prefill().heads(0);
    HeadShards destination = plan.decode().heads(0);
    List<Rank> ranks = new ArrayList<>();
    for (int head = destination.first(reader.tp()); head < destination.end(reader.tp());) {
      int copy = choice.choose(destination.copy(head, reader.tp()), destination.copies(head), source.copies(head));
      int tp = source.rank(head, copy, contextRank % prefill.dcp());
      ranks.add(new Rank(0, contextRank / prefill.dcp(), tp));
      head = source.end(tp);
    }
    return ranks;
  }

  private int sourceId(TokenPiece piece) {
    if (piece.sourceBlock() >= sourceIds.size()) {
      throw new IllegalArgumentException("input.remote_block_ids must be more than %d ids (was %d)".formatted(
          piece.sourceBlock(), sourceIds.size()));
    }
    return sourceIds.get(piece.sourceBlock());
  }

  private static List<Map<String, Object>> pulls(int count) {
    return IntStream.range(0, count).mapToObj(i -> Map.<String, Object>of("tp_offset", i, "num_pulls", count, "pp", 0,
        "end", i == count - 1)).toList();
  }

  private int port(Rank rank) {
    return firstPort + prefill.index(rank);
  }

  /// Place of a piece's block in the ids of the decode rank, which leave out the cached prefix.
  private int index(TokenPiece piece, Rank reader) {
    int first = cachedBlocks + Math.floorMod(decode.contextRank(reader) - cachedBlocks, decode.contextRanks());
    return piece.destinationBlock() - first / decode.contextRanks();
  }

  private IntStream kernels(TokenPiece piece, int id, int blockTokens, int token) {
    int first = id * (blockTokens / kernelTokens) + token / kernelTokens;
    return IntStream.range(first, first + piece.tokens() / kernelTokens);
  }
}
