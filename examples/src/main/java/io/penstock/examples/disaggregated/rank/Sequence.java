package io.penstock.examples.disaggregated.rank;

import io.penstock.disagg.plan.Rank;
import io.penstock.examples.disaggregated.model.Model;
import io.penstock.examples.disaggregated.model.Softmax;
import io.penstock.examples.disaggregated.model.TileScorer;
import io.penstock.examples.disaggregated.model.Vectors;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.stream.Stream;

/// One request in an instance: its ranks, and the sums over them.
///
/// Each rank has only its own weights. Every sum over ranks has one order, whatever the ranks: softmax tile after tile
/// of the tokens, attention head after head, the feed-forward part tile after tile of its columns. So the vectors of a
/// token are equal bit for bit in every deployment.
public final class Sequence implements AutoCloseable {
  private static final int TILE = TileScorer.TILE_TOKENS;

  private final Deployment deployment;
  private final Model model;
  private final List<Worker> workers;
  private int finalTokens;

  /// @param workers of all ranks of the deployment, in order
  Sequence(Deployment deployment, List<Worker> workers) {
    this.deployment = deployment;
    this.model = deployment.model();
    this.workers = List.copyOf(workers);
  }

  public List<Worker> workers() {
    return workers;
  }

  /// The blocks of one rank.
  public RankCache cache(Rank rank) {
    return workers.get(deployment.parallelism().index(rank)).cache();
  }

  public Deployment deployment() {
    return deployment;
  }

  public Model model() {
    return model;
  }

  /// Tokens whose cache will not change any more: it is read, and not written again.
  public int finalTokens() {
    return finalTokens;
  }

  /// Declares the cache of the first `tokens` tokens final, and seals the blocks that have no other token.
  public void finish(int tokens) {
    finalTokens = tokens;
    workers.forEach(worker -> worker.cache().sealBelow(tokens));
  }

  private float[] embed(int token, int position) {
    return workers.get(deployment.vocabRank(token, position)).weights().embed(token);
  }

  /// The logits of the next token, from the output of the last layer: each rank has those of its own tokens.
  float[] logits(float[] x) {
    return joined(rank -> rank.weights().logits(x));
  }

  /// The draft head's logits.
  ///
  /// @param x the output of the draft layer
  float[] draftLogits(float[] x) {
    return joined(rank -> rank.weights().draftLogits(x));
  }

  /// The results of the last stage, in the order of its ranks; those with other tokens of the prompt have copies.
  private float[] joined(Function<Worker, float[]> part) {
    float[] all = new float[model.config().vocabSize()];
    int at = 0;
    for (Worker worker : stage(model.config().cachedLayers() - 1).subList(0, deployment.parallelism().tp())) {
      float[] logits = part.apply(worker);
      System.arraycopy(logits, 0, all, at, logits.length);
      at += logits.length;
    }
    return all;
  }

  /// The output of the last layer for `tokens`, the first of which is at `from`. Their keys and values are in the cache
  /// afterwards.
  ///
  /// @param repeats number of computations of each layer; the result does not depend on it
  /// @param layerDone called after each layer with its number: its part of the cache is written
  float[][] forward(int[] tokens, int from, int repeats, IntConsumer layerDone) {
    float[][] xs = new float[tokens.length][];
    for (int i = 0; i < tokens.length; i++) {
      xs[i] = embed(tokens[i], from + i);
    }
    for (int layer = 0; layer < model.config().layers(); layer++) {
      for (int i = 1; i < repeats; i++) {
        layer(layer, copy(xs), from);
      }
      layer(layer, xs, from);
      layerDone.accept(layer);
    }
    return xs;
  }

  float[][] forward(int[] tokens, int from) {
    return forward(tokens, from, 1, layer -> {});
  }

  /// The output of the draft layer.
  ///
  /// @param before for each token the output of the last layer for the token before it
  float[][] draft(int[] tokens, float[][] before, int from) {
    float[][] xs = new float[tokens.length][];
    Worker last = stage(model.config().layers()).getFirst();
    for (int i = 0; i < tokens.length; i++) {
      xs[i] = last.weights().draftInput(embed(tokens[i], from + i), before[i]);
    }
    layer(model.config().layers(), xs, from);
    return xs;
  }

  private static float[][] copy(float[][] xs) {
    return Stream.of(xs).map(float[]::clone).toArray(float[][]::new);
  }

  /// Replaces each vector by the output of `layer`.
  private void layer(int layer, float[][] xs, int from) {
    List<Worker> stage = stage(layer);
    float[][] normed = new float[xs.length][];
    for (int i = 0; i < xs.length; i++) {
      normed[i] = stage.getFirst().weights().beforeAttention(layer, xs[i]);
      keep(stage, layer, from + i, normed[i]);
    }
    stage.forEach(worker -> worker.load(layer, from + xs.length));
    for (int i = 0; i < xs.length; i++) {
      attend(stage, layer, from + i, normed[i], xs[i]);
      feedForward(stage, layer, from + i, xs[i]);
    }
    stage.forEach(Worker::unload);
  }

  private List<Worker> stage(int layer) {
    int perStage = deployment.parallelism().tp() * deployment.parallelism().pcp();
    int stage = deployment.stageOf(layer);
    return workers.subList(stage * perStage, (stage + 1) * perStage);
  }

  private void keep(List<Worker> stage, int layer, int position, float[] x) {
    if (position >= finalTokens) {
      stage.forEach(worker -> worker.keep(layer, position, x));
    }
  }

  private void attend(List<Worker> stage, int layer, int position, float[] x, float[] sum) {
    float[] all = new float[sum.length];
    for (int head = 0; head < model.config().heads(); head++) {
      Worker own = stage.get(deployment.headRank(head, position));
      Softmax mixed = softmax(stage, layer, head, own.query(layer, head, position, x), position);
      Vectors.add(all, own.attended(layer, head, mixed));
    }
    stage.getFirst().weights().addAttentionBias(layer, all);
    Vectors.add(sum, all);
  }

  /// Joins the tiles in the order of the tokens, from the first token that the layer sees. Each comes from the rank
  /// that keeps it.
  private Softmax softmax(List<Worker> stage, int layer, int head, float[] query, int position) {
    Softmax all = stage.get(deployment.keeper(head, position)).noTokens(layer);
    int first = model.config().firstVisible(layer, position);
    for (int tile = first / TILE * TILE; tile <= position; tile += TILE) {
      int from = Math.max(first, tile);
      Worker keeper = stage.get(deployment.keeper(head, tile));
      all.join(keeper.attend(layer, head, query, from, Math.min(tile + TILE, position + 1) - from));
    }
    return all;
  }

  private void feedForward(List<Worker> stage, int layer, int position, float[] sum) {
    float[] x = stage.getFirst().weights().beforeFeedForward(layer, sum);
    float[] all = new float[sum.length];
    for (int tile = 0; tile < model.config().columnTiles(); tile++) {
      Worker own = stage.get(deployment.columnRank(tile, position));
      Vectors.add(all, own.fedForward(layer, tile, x));
    }
    stage.getFirst().weights().addFeedForwardBias(layer, all);
    Vectors.add(sum, all);
  }

  @Override
  public void close() {
    workers.forEach(Worker::close);
  }
}
