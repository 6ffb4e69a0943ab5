package io.penstock.examples.disaggregated.model;

import io.penstock.examples.disaggregated.tensors.ModelFileException;

/// Grouped-query attention: keys and values are cached, each for several query heads.
final class GroupedAttention implements Attention {
  private final ModelConfig config;
  private final Rotary rotary;
  private final Matrix query;
  private final Matrix key;
  private final Matrix value;
  private final Matrix output;

  private GroupedAttention(ModelConfig config, Rotary rotary, Matrix query, Matrix key, Matrix value, Matrix output) {
    this.config = config;
    this.rotary = rotary;
    this.query = query;
    this.key = key;
    this.value = value;
    this.output = output;
  }

  static GroupedAttention load(ModelConfig config, Rotary rotary, Linears linears) throws ModelFileException {
    int hidden = config.hiddenSize();
    int cached = config.kvHeads() * config.headDim();
    int queries = config.heads() * config.headDim();
    return new GroupedAttention(config, rotary, linears.load("q_proj", queries, hidden),
        linears.load("k_proj", cached, hidden), linears.load("v_proj", cached, hidden),
        linears.load("o_proj", hidden, queries));
  }

  @Override
  public float[] query(float[] x, int head, int position) {
    float[] turned = query.times(x, head * config.headDim(), config.headDim());
    rotary.turn(turned, 0, position);
    Vectors.scale(turned, 1 / (float) StrictMath.sqrt(config.headDim()));
    return turned;
  }

  @Override
  public float[] cached(float[] x, int plane, int kvHead, int position) {
    float[] vector = (plane == 0 ? key : value).times(x, kvHead * config.headDim(), config.headDim());
    if (plane == 0) {
      rotary.turn(vector, 0, position);
    }
    return vector;
  }

  @Override
  public float[] output(float[] mixed, int head) {
    float[] sum = new float[config.hiddenSize()];
    output.addTimes(mixed, head * config.headDim(), 0, sum);
    return sum;
  }

  @Override
  public int kvHead(int head) {
    return head / (config.heads() / config.kvHeads());
  }

  @Override
  public TileScorer scorer() {
    return TileScorer.GROUPED;
  }
}
