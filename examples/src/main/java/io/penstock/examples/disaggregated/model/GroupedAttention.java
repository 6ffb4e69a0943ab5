package io.penstock.examples.disaggregated.model;

import io.penstock.examples.disaggregated.tensors.ModelFileException;
import org.jspecify.annotations.Nullable;

/// Grouped-query attention: keys and values are cached, each for several query heads.
///
/// @param queryNorm of each query head, before its position; null for none
/// @param keyNorm of each key head
/// @param firstHead number of the rank's first query head
record GroupedAttention(ModelConfig config, Rotary rotary, Projection query, Projection key, Projection value,
    @Nullable RmsNorm queryNorm, @Nullable RmsNorm keyNorm, Matrix output, int firstHead) implements Attention {
  static GroupedAttention load(ModelConfig config, ModelPart part, Rotary rotary, Linears linears)
      throws ModelFileException {
    int width = config.headDim();
    boolean fused = config.family().fusesAttention();
    int queries = fused ? config.heads() * width : 0;
    int cached = fused ? config.kvHeads() * width : 0;
    int first = part.first(config.heads());
    int count = part.count(config.heads());
    boolean normed = config.family().hasHeadNorms();
    return new GroupedAttention(config, rotary,
        Projection.load(linears, fused ? "qkv_proj" : "q_proj", 0, first, count, width),
        Projection.load(linears, fused ? "qkv_proj" : "k_proj", queries, part.firstKvHead(), part.kvHeads(), width),
        Projection.load(linears, fused ? "qkv_proj" : "v_proj", queries + cached, part.firstKvHead(), part.kvHeads(),
            width),
        normed ? linears.norm("q_norm") : null, normed ? linears.norm("k_norm") : null,
        linears.inputs("o_proj", first * width, count * width), first);
  }

  @Override
  public float[] query(float[] x, int head, int position) {
    float[] turned = placed(query.of(x, head), queryNorm, position);
    Vectors.scale(turned, 1 / (float) StrictMath.sqrt(config.headDim()));
    return turned;
  }

  private float[] placed(float[] head, @Nullable RmsNorm norm, int position) {
    float[] normed = norm == null ? head : norm.of(head);
    rotary.turn(normed, position);
    return normed;
  }

  @Override
  public float[] cached(float[] x, int plane, int kvHead, int position) {
    return plane == 0 ? placed(key.of(x, kvHead), keyNorm, position) : value.of(x, kvHead);
  }

  @Override
  public float[] output(float[] mixed, int head) {
    float[] sum = new float[config.hiddenSize()];
    output.addTimes(mixed, (head - firstHead) * config.headDim(), 0, sum);
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
