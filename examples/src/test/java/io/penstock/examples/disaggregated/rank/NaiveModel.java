package io.penstock.examples.disaggregated.rank;

import io.penstock.examples.disaggregated.model.LatentConfig;
import io.penstock.examples.disaggregated.model.ModelConfig;
import io.penstock.examples.disaggregated.tensors.SeededTensors;
import java.util.HashMap;
import java.util.Map;

/// The textbook: all tokens at once, in `double`, from the tensors as a checkpoint stores them. No cache, no blocks, no
/// tiles; latents are unfolded into keys and values.
final class NaiveModel {
  private final ModelConfig config;
  private final SeededTensors source;
  private final Map<String, float[]> tensors = new HashMap<>();

  NaiveModel(ModelConfig config, long seed) {
    this.config = config;
    this.source = new SeededTensors(seed);
  }

  private float[] tensor(String name, int... shape) {
    return tensors.computeIfAbsent(name, missing -> source.tensor(missing, shape));
  }

  /// Logits of the token after the last one.
  double[] logits(int[] tokens) {
    int hidden = config.hiddenSize();
    float[] embedding = tensor("model.embed_tokens.weight", config.vocabSize(), hidden);
    double[][] xs = new double[tokens.length][hidden];
    for (int t = 0; t < tokens.length; t++) {
      for (int i = 0; i < hidden; i++) {
        xs[t][i] = embedding[tokens[t] * hidden + i];
      }
    }
    for (int layer = 0; layer < config.layers(); layer++) {
      layer("model.layers." + layer + ".", xs);
    }
    double[] last = norm("model.norm.weight", xs[xs.length - 1]);
    return config.tiedEmbeddings() ? product(embedding, last) : linear("lm_head.weight", config.vocabSize(), last);
  }

  private void layer(String name, double[][] xs) {
    double[][] normed = new double[xs.length][];
    for (int t = 0; t < xs.length; t++) {
      normed[t] = norm(name + "input_layernorm.weight", xs[t]);
    }
    double[][] attended = attention(name + "self_attn.", normed);
    for (int t = 0; t < xs.length; t++) {
      add(xs[t], attended[t]);
      double[] x = norm(name + "post_attention_layernorm.weight", xs[t]);
      double[] gate = linear(name + "mlp.gate_proj.weight", config.intermediateSize(), x);
      double[] up = linear(name + "mlp.up_proj.weight", config.intermediateSize(), x);
      for (int i = 0; i < gate.length; i++) {
        gate[i] = gate[i] / (1 + Math.exp(-gate[i])) * up[i];
      }
      add(xs[t], linear(name + "mlp.down_proj.weight", config.hiddenSize(), gate));
    }
  }

  private double[][] attention(String name, double[][] xs) {
    int n = xs.length;
    double[][][] queries = new double[n][config.heads()][];
    double[][][] keys = new double[n][config.heads()][];
    double[][][] values = new double[n][config.heads()][];
    for (int t = 0; t < n; t++) {
      for (int head = 0; head < config.heads(); head++) {
        project(name, xs[t], t, head, queries[t], keys[t], values[t]);
      }
    }
    double[][] out = new double[n][];
    for (int t = 0; t < n; t++) {
      int width = values[t][0].length;
      double[] all = new double[config.heads() * width];
      for (int head = 0; head < config.heads(); head++) {
        double[] weights = new double[t + 1];
        double sum = 0;
        for (int s = 0; s <= t; s++) {
          weights[s] = Math.exp(dot(queries[t][head], keys[s][head]) / Math.sqrt(queries[t][head].length));
          sum += weights[s];
        }
        for (int s = 0; s <= t; s++) {
          for (int i = 0; i < width; i++) {
            all[head * width + i] += weights[s] / sum * values[s][head][i];
          }
        }
      }
      out[t] = linear(name + "o_proj.weight", config.hiddenSize(), all);
    }
    return out;
  }

  private void project(String name, double[] x, int position, int head, double[][] query, double[][] key,
      double[][] value) {
    LatentConfig latent = config.latent();
    if (latent == null) {
      int width = config.headDim();
      int kvHead = head / (config.heads() / config.kvHeads());
      query[head] = turned(part(linear(name + "q_proj.weight", config.heads() * width, x), head, width), position);
      key[head] = turned(part(linear(name + "k_proj.weight", config.kvHeads() * width, x), kvHead, width), position);
      value[head] = part(linear(name + "v_proj.weight", config.kvHeads() * width, x), kvHead, width);
      return;
    }
    int nope = latent.qkNopeHeadDim();
    int rope = latent.qkRopeHeadDim();
    double[] q = part(linear(name + "q_proj.weight", config.heads() * (nope + rope), x), head, nope + rope);
    query[head] = joined(slice(q, 0, nope), turned(slice(q, nope, rope), position));
    double[] down = linear(name + "kv_a_proj_with_mqa.weight", latent.kvLoraRank() + rope, x);
    double[] c = norm(name + "kv_a_layernorm.weight", slice(down, 0, latent.kvLoraRank()));
    double[] up = part(linear(name + "kv_b_proj.weight", config.heads() * (nope + latent.vHeadDim()), c), head,
        nope + latent.vHeadDim());
    key[head] = joined(slice(up, 0, nope), turned(slice(down, latent.kvLoraRank(), rope), position));
    value[head] = slice(up, nope, latent.vHeadDim());
  }

  private double[] turned(double[] x, int position) {
    int half = x.length / 2;
    double[] y = new double[x.length];
    for (int i = 0; i < half; i++) {
      double angle = position * Math.pow(config.ropeTheta(), -2.0 * i / x.length);
      y[i] = x[i] * Math.cos(angle) - x[half + i] * Math.sin(angle);
      y[half + i] = x[half + i] * Math.cos(angle) + x[i] * Math.sin(angle);
    }
    return y;
  }

  private double[] norm(String name, double[] x) {
    float[] weight = tensor(name, x.length);
    double scale = 1 / Math.sqrt(dot(x, x) / x.length + config.rmsNormEps());
    double[] y = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      y[i] = x[i] * scale * weight[i];
    }
    return y;
  }

  private double[] linear(String name, int outputs, double[] x) {
    return product(tensor(name, outputs, x.length), x);
  }

  private static double[] product(float[] stored, double[] x) {
    double[] y = new double[stored.length / x.length];
    for (int o = 0; o < y.length; o++) {
      for (int i = 0; i < x.length; i++) {
        y[o] += stored[o * x.length + i] * x[i];
      }
    }
    return y;
  }

  private static double dot(double[] a, double[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += a[i] * b[i];
    }
    return sum;
  }

  private static void add(double[] to, double[] from) {
    for (int i = 0; i < to.length; i++) {
      to[i] += from[i];
    }
  }

  private static double[] part(double[] x, int number, int width) {
    return slice(x, number * width, width);
  }

  private static double[] slice(double[] x, int from, int count) {
    double[] y = new double[count];
    System.arraycopy(x, from, y, 0, count);
    return y;
  }

  private static double[] joined(double[] a, double[] b) {
    double[] y = new double[a.length + b.length];
    System.arraycopy(a, 0, y, 0, a.length);
    System.arraycopy(b, 0, y, a.length, b.length);
    return y;
  }
}
