//===- TrainDeclaration.cpp - the options of tessera train ----------------===//

#include "tools/tessera/train/TrainDeclaration.h"
#include "tools/tessera/options/Agreement.h"
#include "tools/tessera/options/DataWeights.h"
#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/train/RecipeOptions.h"

using namespace tessera;

//===----------------------------------------------------------------------===//
// Declaration
//===----------------------------------------------------------------------===//

void TrainDeclaration::declareEvaluations(CLI::App &app) {
  beginGroup(app, "Evaluation",
             "--validation-fraction 0.1 --eval-every 100 --early-stop 5");
  app.add_option("--eval-data", options.evalData,
                 "Files to measure the loss on, as --data has them (default: "
                 "what --validation-fraction holds out)")
      ->type_name("FILE");
  tessera::declare(app, "--eval-every", FlagCheck::Positive, options.evalEvery,
                   "Steps between evaluations (default: only at the end)");
  tessera::declare(app, static_cast<EvaluationOptions &>(options));
  app.add_flag("--keep-best", options.keepsBest,
               "Keep the checkpoint with the smallest loss of an evaluation, "
               "in the folder best of --checkpoint-dir");
  tessera::declare(app, "--early-stop", FlagCheck::Positive, options.earlyStop,
                   "End when so many evaluations in a row are no better than "
                   "the best (default: never)");
}

void TrainDeclaration::declareSamples(CLI::App &app) {
  beginGroup(app, "Samples",
             "--sample-every 500 --sample-prompt 'Once upon a time'");
  tessera::declare(app, "--sample-every", FlagCheck::Positive,
                   options.sampleEvery,
                   "Steps between texts that the model writes, drawn at "
                   "temperature 1, of at most 64 tokens each; compiles with "
                   "--programs train,generate (default: never)");
  app.add_option("--sample-prompt", options.samplePrompts,
                 "What such a text begins with (give the option once for "
                 "each)")
      ->allow_extra_args(false)
      ->type_name("WORDS");
}

void TrainDeclaration::declareCheckpoints(CLI::App &app) {
  beginGroup(app, "Checkpoints and weights",
             "--checkpoint-dir runs/one --save-every 100 --resume-if-any");
  app.add_option("--checkpoint-dir", options.checkpointDir,
                 "Where checkpoints go; one is written at the end")
      ->type_name("DIR");
  tessera::declare(app, "--save-every", FlagCheck::Positive, options.saveEvery,
                   "Steps between checkpoints (default: only at the end)");
  tessera::declare(app, "--keep", FlagCheck::Positive, options.keep,
                   "Keep the newest checkpoints, so many, and remove older "
                   "ones after each save (default: all)");
  tessera::declare(app, "--max-shard-size", FlagCheck::SizeOrZero,
                   options.maxShardBytes,
                   "Most bytes of weights in a file of a checkpoint, e.g. 5GB; "
                   "larger models are several files with an index (default: 0, "
                   "one file)");
  CLI::Option *resume =
      app.add_option("--resume", options.resumeDir,
                     "Continue from the newest checkpoint of a directory "
                     "(default: --checkpoint-dir)")
          ->expected(0, 1)
          ->type_name("DIR");
  app.add_flag("--resume-if-any", options.resumesIfAny,
               "As --resume if --checkpoint-dir holds a checkpoint; else start "
               "anew: the same command first and later")
      ->excludes(resume);
  app.add_flag("--change-data", options.changesData,
               "Go on with other data than the checkpoint was trained on, "
               "which is otherwise an error");
  CLI::Option *weights =
      app.add_option("--load-weights", options.weights,
                     "Start from weights as transformers saves them: "
                     "model.safetensors, its index, or their directory; not "
                     "with --resume")
          ->excludes(resume)
          ->type_name("PATH");
  declareAdapter(app, options.adapter)->excludes(resume);
  app.add_flag("--random-weights", options.randomWeights,
               "Start from random parameters, also with --lora or --freeze, "
               "or with weights beside the model")
      ->excludes(resume)
      ->excludes(weights);
}

void TrainDeclaration::declareOutput(CLI::App &app) {
  beginGroup(app, "Output", "--log steps.jsonl");
  app.add_option("--log", options.log, "Write a line of JSON per step")
      ->type_name("FILE");
  app.add_option("--tensorboard", options.tensorboard,
                 "Write the curves of losses, gradient norm, learning rate "
                 "and speed for TensorBoard")
      ->type_name("DIR");
  tessera::declare(app, "--peak-flops", FlagCheck::Positive, options.peakFlops,
                   "Flops per second that all devices of the run are capable "
                   "of, as tessera doctor measures them: the run says what "
                   "share it reaches (default: it does not)");
  app.add_option("--trace", options.trace,
                 "Record one step after the first two: when each op ran, for "
                 "ui.perfetto.dev")
      ->type_name("FILE");
  app.add_option("--html", options.html,
                 "Write a page of the run for a browser, and keep it current: "
                 "curves, options, memory; it needs no network")
      ->type_name("FILE");
  declareCluster(app,
                 "Show the step of --trace in the page beside the simulated "
                 "one of this cluster, as tessera calibrate describes it",
                 options.cluster);
}

void TrainDeclaration::declare(CLI::App &app) {
  declareModel(app, options, ModelKinds::SourcesAndArtifacts);
  tessera::declare(app, static_cast<DataOptions &>(options));
  declareEvaluations(app);
  declareSamples(app);
  declareCheckpoints(app);
  declareOutput(app);
  declareTrust(app, options);
  tessera::declare(app, static_cast<LaunchOptions &>(options));
  plan.declare(app, {ProgramSet::Train, ProgramSet::TrainAndGenerate});
  plan.declareRanks(app);
  plan.declarePlanFile(app);
  declareThreads(app, options.threads);
  beginGroup(app, "Optimizer");
  tessera::declare(app, "--max-bad-steps", FlagCheck::NotNegative,
                   options.maxBadSteps,
                   "A step whose loss or gradient is not finite is skipped; "
                   "more than so many in a row end the run");
  beginGroup(app, "Learning rate");
  tessera::declare(app, "--epochs", FlagCheck::Positive, options.epochs,
                   "Instead of --steps: passes over the data, those before "
                   "--resume too, rounded up to whole steps; may be a fraction "
                   "(default: --steps counts)");
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// The program that trains writes texts during a run.
void TrainDeclaration::checkSamples() {
  if ((options.sampleEvery > 0) != !options.samplePrompts.empty())
    refuse("--sample-every says how often, and --sample-prompt what a text "
           "begins with; give both");
  if (!options.sampleEvery)
    return;
  if (!options.launch.isAlone())
    refuse("--sample-every needs all ranks in one process; leave it out, and "
           "generate from the checkpoints of the run");
  ProgramSet &programs = options.plan.programs;
  if (plan.isGiven("--programs") && !generates(programs))
    refuse("--sample-every runs programs that continue texts, which --programs "
           "train leaves out; give --programs train,generate");
  if (!options.isArtifact())
    programs = ProgramSet::TrainAndGenerate;
}

void TrainDeclaration::checkCheckpoints(CLI::App &app) {
  options.resumes = app.get_option("--resume")->count() > 0;
  if (options.resumes && options.resumeDir.empty())
    options.resumeDir = options.checkpointDir;
  if (options.resumes && options.resumeDir.empty())
    refuse("--resume needs a directory; name one, or give --checkpoint-dir");
  if (options.changesData && !options.resumes && !options.resumesIfAny)
    refuse("--change-data is for a run that goes on, but there is neither "
           "--resume nor --resume-if-any; leave it out");
  for (const char *name :
       {"--save-every", "--keep", "--max-shard-size", "--resume-if-any"})
    if (app.get_option(name)->count() && options.checkpointDir.empty())
      refuse(std::string(name) + " needs --checkpoint-dir");
}

/// The number of steps that epochs make is known once the data is open. The
/// learning rate of an artifact is merged by its run, too.
void TrainDeclaration::checkLength() {
  options.givenRate = plan.givenRate();
  if (options.epochs <= 0)
    return plan.completeRate();
  if (plan.isGiven("--steps"))
    refuse("--epochs and --steps both say how long the run is; give one of the "
           "two");
  if (!options.dataWeights.empty())
    refuse("--epochs counts passes over the data, but files with weights are "
           "passed over at different rates; give --steps");
  if (options.changesData)
    refuse("--epochs counts passes over the data, which --change-data changes; "
           "give --steps");
}

void TrainDeclaration::checkEvaluation(CLI::App &app) const {
  if (!options.evalData.empty() && options.validationFraction > 0)
    refuse("--eval-data names what is evaluated, so that nothing would read "
           "what --validation-fraction holds out; give one of the two");
  bool hasData = options.hasEvaluationData();
  for (const char *name : {"--eval-every", "--eval-batches", "--tokenizer",
                           "--keep-best", "--early-stop"})
    if (app.get_option(name)->count() && !hasData &&
        !(options.sampleEvery && name == std::string("--tokenizer")))
      refuse(std::string(name) +
             " is about evaluations, but there is nothing to evaluate on; give "
             "--eval-data or --validation-fraction");
  if (options.keepsBest && options.checkpointDir.empty())
    refuse("--keep-best needs --checkpoint-dir");
  if (options.earlyStop && !options.evalEvery)
    refuse("--early-stop needs --eval-every: how often to look");
  if (hasData && !options.plan.evaluation)
    refuse("--no-evaluation leaves out the program that evaluations run; leave "
           "it out");
}

void TrainDeclaration::check(CLI::App &app, RecipeReader readRecipe) {
  plan.read(app);
  applyRecipe(app, plan, options, readRecipe);
  // Samples need all ranks in one process.
  tessera::check(static_cast<LaunchOptions &>(options));
  options.isFirstProcess = options.launch.rank == 0;
  checkSamples();
  plan.requireTraining();
  plan.checkRules(plan.given());
  checkCheckpoints(app);
  refuseUnless(takeWeights(options.data, options.dataWeights));
  checkLength();
  plan.checkArtifact();
  checkEvaluation(app);
  // A run needs no cluster, but a traced step can be compared with one.
  if (!options.cluster.empty() &&
      (options.html.empty() || options.trace.empty()))
    refuse("--cluster is for the page of a traced step; give --html and "
           "--trace, too");
  options.shared = agreedOptions(app, options, plan);
  for (const CLI::Option *option : app.get_options())
    if (option->count())
      options.given.emplace_back(option->get_name(), givenText(*option));
}
